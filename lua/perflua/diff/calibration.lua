-- Figures of `make calibrate` (spec/bench/calibrate): how often comparisons of equal work flag
-- a row, and how often a function that was made slower is found.
--
--   single   { comparisons, flagged } of equal work, one run against one
--   runs     the same of three runs against three
--   power    { share, runs, slower, comparisons, found }: of a function that takes this share
--            (%) of the time, made slower by so much (%), in so many runs a side

return {}
