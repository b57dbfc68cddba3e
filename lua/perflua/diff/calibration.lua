-- Figures of `make calibrate` (spec/bench/calibrate): how often comparisons of equal work flag
-- a row, and how often a function that was made slower is found.
--
--   single   { comparisons, flagged } of equal work, one run against one
--   runs     the same of three runs against three
--   power    { share, runs, slower, comparisons, found }: of a function that takes this share
--            (%) of the time, made slower by so much (%), in so many runs a side

return {
  single = { comparisons = 400, flagged = 10 },
  runs = { comparisons = 400, flagged = 0 },
  power = {
    { share = 30, slower = 20, runs = 1, comparisons = 200, found = 200 },
    { share = 20, slower = 20, runs = 1, comparisons = 200, found = 200 },
    { share = 10, slower = 20, runs = 1, comparisons = 200, found = 200 },
    { share = 5, slower = 20, runs = 1, comparisons = 200, found = 165 },
    { share = 2, slower = 20, runs = 1, comparisons = 200, found = 75 },
    { share = 20, slower = 5, runs = 1, comparisons = 200, found = 18 },
    { share = 15, slower = 10, runs = 1, comparisons = 200, found = 136 },
    { share = 10, slower = 10, runs = 1, comparisons = 200, found = 82 },
    { share = 5, slower = 10, runs = 1, comparisons = 200, found = 44 },
    { share = 30, slower = 20, runs = 3, comparisons = 200, found = 199 },
    { share = 20, slower = 20, runs = 3, comparisons = 200, found = 200 },
    { share = 10, slower = 20, runs = 3, comparisons = 200, found = 199 },
    { share = 5, slower = 20, runs = 3, comparisons = 200, found = 139 },
    { share = 2, slower = 20, runs = 3, comparisons = 200, found = 57 },
    { share = 20, slower = 5, runs = 3, comparisons = 200, found = 4 },
    { share = 15, slower = 10, runs = 3, comparisons = 200, found = 93 },
    { share = 10, slower = 10, runs = 3, comparisons = 200, found = 33 },
    { share = 5, slower = 10, runs = 3, comparisons = 200, found = 16 },
    { share = 30, slower = 20, runs = 5, comparisons = 200, found = 200 },
    { share = 20, slower = 20, runs = 5, comparisons = 200, found = 200 },
    { share = 10, slower = 20, runs = 5, comparisons = 200, found = 200 },
    { share = 5, slower = 20, runs = 5, comparisons = 200, found = 200 },
    { share = 2, slower = 20, runs = 5, comparisons = 200, found = 178 },
    { share = 20, slower = 5, runs = 5, comparisons = 200, found = 68 },
    { share = 15, slower = 10, runs = 5, comparisons = 200, found = 200 },
    { share = 10, slower = 10, runs = 5, comparisons = 200, found = 188 },
    { share = 5, slower = 10, runs = 5, comparisons = 200, found = 150 },
  },
}
