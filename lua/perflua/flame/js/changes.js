// Both sides of a frame, on a page that compares two recordings: before, after, verdict and shade.

function has_changes() { return PAGE.changes && reversed === PAGE.reversed; }

// Returns the amounts and shares before and after, and the verdict.
function change_parts(i) {
  const [before, after, verdict] = PAGE.changes.slice(4 * i, 4 * i + 3);
  const side = (value, whole) => (value ? amount(value) : "0") + " (" + percent(value, whole) + ")";
  return ["before " + side(before, PAGE.changes[0]), "after " + side(after, PAGE.changes[1]), PAGE.verdicts[verdict]];
}
