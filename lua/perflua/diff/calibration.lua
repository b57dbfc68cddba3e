-- Figures of `make calibrate` (spec/bench/calibrate): how often comparisons of equal work flag
-- a row, and how often a function that was made slower is found.
--
--   single   { comparisons, flagged } of equal work, one run against one
--   runs     the same of three runs against three
--   power    { share, runs, slower, comparisons, found }: of a function that takes this share
--            (%) of the time, made slower by so much (%), in so many runs a side

return {
  single = { comparisons = 400, flagged = 0 },
  runs = { comparisons = 400, flagged = 0 },
  power = {
    { share = 30, slower = 20, runs = 1, comparisons = 400, found = 43 },
    { share = 20, slower = 20, runs = 1, comparisons = 400, found = 56 },
    { share = 10, slower = 20, runs = 1, comparisons = 400, found = 82 },
    { share = 5, slower = 20, runs = 1, comparisons = 400, found = 91 },
    { share = 2, slower = 20, runs = 1, comparisons = 400, found = 75 },
    { share = 20, slower = 5, runs = 1, comparisons = 400, found = 2 },
    { share = 15, slower = 10, runs = 1, comparisons = 400, found = 10 },
    { share = 10, slower = 10, runs = 1, comparisons = 400, found = 11 },
    { share = 5, slower = 10, runs = 1, comparisons = 400, found = 16 },
    { share = 30, slower = 20, runs = 3, comparisons = 400, found = 398 },
    { share = 20, slower = 20, runs = 3, comparisons = 400, found = 399 },
    { share = 10, slower = 20, runs = 3, comparisons = 400, found = 385 },
    { share = 5, slower = 20, runs = 3, comparisons = 400, found = 289 },
    { share = 2, slower = 20, runs = 3, comparisons = 400, found = 109 },
    { share = 20, slower = 5, runs = 3, comparisons = 400, found = 20 },
    { share = 15, slower = 10, runs = 3, comparisons = 400, found = 45 },
    { share = 10, slower = 10, runs = 3, comparisons = 400, found = 40 },
    { share = 5, slower = 10, runs = 3, comparisons = 400, found = 31 },
    { share = 30, slower = 20, runs = 5, comparisons = 400, found = 400 },
    { share = 20, slower = 20, runs = 5, comparisons = 400, found = 400 },
    { share = 10, slower = 20, runs = 5, comparisons = 400, found = 400 },
    { share = 5, slower = 20, runs = 5, comparisons = 400, found = 400 },
    { share = 2, slower = 20, runs = 5, comparisons = 400, found = 375 },
    { share = 20, slower = 5, runs = 5, comparisons = 400, found = 250 },
    { share = 15, slower = 10, runs = 5, comparisons = 400, found = 384 },
    { share = 10, slower = 10, runs = 5, comparisons = 400, found = 366 },
    { share = 5, slower = 10, runs = 5, comparisons = 400, found = 350 },
  },
}
