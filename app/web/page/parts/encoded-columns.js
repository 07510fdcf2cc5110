/** Encoded columns: of a category `input=label`, of gaps `input missing`, of a date `input (week, sine)`, of a text `input (effect)`, else the input itself. */

/** The input that a column encodes; of gaps the column itself, which is no value of the input. @param {string} column @param {Iterable<string>} inputs */
export function inputOf(column, inputs) {
  let found = column;
  for (const input of inputs) {
    if (column === input) return column;
    if (column === `${input} missing`) return column;
    if ((column.startsWith(`${input}=`) || column.startsWith(`${input} `)) && (found === column || input.length > found.length)) found = input;
  }
  return found;
}

/** The shortest width of each input and of each column of gaps, the shortest first. @param {any} version @returns {{ input: string, width: number }[]} */
export function shortestWidths({ inputs, hyperparameters }) {
  const names = inputs.map((/** @type {any} */ one) => one.name);
  /** @type {Map<string, number>} */
  const widths = new Map();
  for (const { input, width } of hyperparameters?.widths ?? []) {
    if (input === null) continue;
    const name = inputOf(input, names);
    widths.set(name, Math.min(width, widths.get(name) ?? Infinity));
  }
  return [...widths].map(([input, width]) => ({ input, width })).sort((one, other) => one.width - other.width);
}
