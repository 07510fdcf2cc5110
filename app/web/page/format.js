/** Numbers, times and cells as texts. */

const DIGITS = 4;
const whole = new Intl.NumberFormat("en");
const plain = new Intl.NumberFormat("en", { maximumSignificantDigits: DIGITS });
const rough = new Intl.NumberFormat("en", { maximumSignificantDigits: 2 });
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: DIGITS });
const day = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });

/**
 * A number with four significant digits; what is very large or small as a power of ten.
 * @param {number | null | undefined} value
 * @param {Intl.NumberFormat} [format]
 */
export function number(value, format = plain) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e9) && format !== compact) {
    const [digits, power] = value.toExponential(2).split("e");
    return `${digits.replace("-", "−")} × 10^${Number(power)}`;
  }
  return format.format(value).replace("-", "−");
}

/** A number at an axis: from 100,000 on in short, such as 150K. @param {number} value */
export const tick = (value) => (Math.abs(value) >= 1e5 && Math.abs(value) < 1e15 ? number(value, compact) : number(value));

/**
 * A function that formats the numbers of one column, all with the same number of decimals: at most as many as give the
 * median four significant digits.
 * @param {unknown[]} values
 */
export function columnFormat(values) {
  const decimals = (/** @type {number} */ value) => (String(Number(value.toPrecision(DIGITS + 1))).split(".")[1] ?? "").length;
  const numbers = values.filter((value) => typeof value === "number" && Number.isFinite(value)).map(Number);
  const sizes = numbers.map(Math.abs).filter((size) => size > 0).sort((one, other) => one - other);
  const enough = sizes.length ? Math.max(0, DIGITS - 1 - Math.floor(Math.log10(sizes[sizes.length >> 1]))) : 0;
  const digits = Math.min(6, enough, Math.max(0, ...numbers.map(decimals)));
  const format = new Intl.NumberFormat("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  const isOrdinary = numbers.every((value) => value === 0 || (Math.abs(value) >= 1e-4 && Math.abs(value) < 1e9));
  return (/** @type {unknown} */ value) => (typeof value === "number" && isOrdinary ? format.format(value).replace("-", "−") : cell(value));
}

/** A count. @param {number} value */
export const count = (value) => whole.format(value);

/** A count with its noun. @param {number} value @param {string} noun @param {string} [nouns] */
export const counted = (value, noun, nouns = `${noun}s`) => `${count(value)} ${value === 1 ? noun : nouns}`;

/** A standard error: two significant digits. @param {number | null | undefined} value */
export const deviation = (value) => number(value, rough);

/** The sign, which no line break separates from its number. */
const PERCENT = "\u00a0%";

/** A share as a percentage. @param {number | null | undefined} value */
export function percent(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const digits = value > 0.995 && value < 1 ? 2 : value > 0.1 || value === 0 ? 0 : 1;
  return `${(100 * value).toFixed(digits)}${PERCENT}`;
}

/** A share at an axis. @param {number} value */
export const share = (value) => `${Number((100 * value).toFixed(1))}${PERCENT}`;

/** A cell of a table. @param {unknown} value */
export function cell(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return number(value);
  return String(value).replace(MIDNIGHT, "$1");
}

/** A day without a time, as a service returns it. */
const MIDNIGHT = /^(\d{4}-\d\d-\d\d)T00:00:00(?:\.000)?Z$/;

/** A duration. @param {number} seconds */
export function duration(seconds) {
  if (seconds < 0.1) return `${Math.max(1, Math.round(1000 * seconds))} ms`;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}

/** The seconds between two moments. @param {string} from @param {string | number} to */
export const secondsBetween = (from, to) => (new Date(to).getTime() - new Date(from).getTime()) / 1000;

/** A moment. @param {string} at */
export const moment = (at) => day.format(new Date(at));

/** The age of a moment in words. @param {string} at @param {number} now */
export function age(at, now) {
  const seconds = (now - new Date(at).getTime()) / 1000;
  if (seconds < 60) return "just now";
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ago`;
  return moment(at);
}

/** Names of the API whose words have capitals. @type {[RegExp, string][]} */
const CAPITALS = [[/\bgaussian\b/g, "Gaussian"], [/\bstudent t\b/g, "Student-t"], [/\blaplace\b/g, "Laplace"]];

/** A name of the API as words, such as of a prior. @param {string} name */
export const words = (name) => CAPITALS.reduce((text, [word, capital]) => text.replace(word, capital), name.replaceAll("_", " "));

/** A size in bytes. @param {number} bytes */
export function size(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1e6) return `${number(bytes / 1000)} kB`;
  return `${number(bytes / 1e6)} MB`;
}
