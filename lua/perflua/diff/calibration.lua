-- Figures of `make calibrate` (spec/bench/calibrate): how much runs of equal work vary, how
-- often comparisons of equal work flag a row, and how often a function that was changed is
-- found.
--
--   conditions  of the recordings: seconds each, samples a second, processors, and busy loops
--               beside those of `loaded`
--   priors      by load and kind of row: dispersion, the variance of samples in that by chance;
--               drift, the standard deviation from run to run besides, as a part of the amount;
--               and how many degrees of freedom this is worth
--   idle, loaded
--     equal      { runs (of a side), comparisons, flagged } of equal work
--     intervals  rows with at least 100 samples, and how many intervals had the difference
--     changes    { share, slower, samples, runs, comparisons, found }: of a function that takes
--                this share (%) of the program's time, in so many samples of a run, made slower
--                by so much (%; -100: it vanished)

return {
  conditions = { seconds = 2.7, frequency = 1000, processors = 2, loops = 2 },
  priors = {
    idle = {
      program = { dispersion = 1.0, drift = 0.02, freedom = 30 },
      kernel = { dispersion = 1.0, drift = 0.02, freedom = 4 },
    },
    loaded = {
      program = { dispersion = 1.0, drift = 0.08, freedom = 30 },
      kernel = { dispersion = 1.0, drift = 0.08, freedom = 3 },
    },
  },
  idle = {
    equal = {
      { runs = 1, comparisons = 200, flagged = 4 },
      { runs = 3, comparisons = 200, flagged = 2 },
      { runs = 5, comparisons = 200, flagged = 4 },
    },
    intervals = { rows = 8065, covered = 7672 },
    changes = {
      { share = 15, slower = 20, samples = 318, runs = 1, comparisons = 200, found = 68 },
      { share = 7, slower = 50, samples = 148, runs = 1, comparisons = 200, found = 176 },
      { share = 6, slower = -100, samples = 128, runs = 1, comparisons = 200, found = 192 },
      { share = 15, slower = 20, samples = 317, runs = 3, comparisons = 200, found = 187 },
      { share = 7, slower = 50, samples = 148, runs = 3, comparisons = 200, found = 200 },
      { share = 6, slower = -100, samples = 127, runs = 3, comparisons = 200, found = 200 },
      { share = 15, slower = 20, samples = 317, runs = 5, comparisons = 200, found = 200 },
      { share = 7, slower = 50, samples = 148, runs = 5, comparisons = 200, found = 200 },
      { share = 6, slower = -100, samples = 128, runs = 5, comparisons = 200, found = 200 },
    },
  },
  loaded = {
    equal = {
      { runs = 1, comparisons = 200, flagged = 30 },
      { runs = 3, comparisons = 200, flagged = 1 },
      { runs = 5, comparisons = 200, flagged = 3 },
    },
    intervals = { rows = 8365, covered = 7822 },
    changes = {
      { share = 15, slower = 20, samples = 315, runs = 1, comparisons = 200, found = 37 },
      { share = 7, slower = 50, samples = 147, runs = 1, comparisons = 200, found = 108 },
      { share = 6, slower = -100, samples = 126, runs = 1, comparisons = 200, found = 200 },
      { share = 15, slower = 20, samples = 318, runs = 3, comparisons = 200, found = 154 },
      { share = 7, slower = 50, samples = 150, runs = 3, comparisons = 200, found = 169 },
      { share = 6, slower = -100, samples = 125, runs = 3, comparisons = 200, found = 199 },
      { share = 15, slower = 20, samples = 317, runs = 5, comparisons = 200, found = 180 },
      { share = 7, slower = 50, samples = 149, runs = 5, comparisons = 200, found = 180 },
      { share = 6, slower = -100, samples = 126, runs = 5, comparisons = 200, found = 200 },
    },
  },
}
