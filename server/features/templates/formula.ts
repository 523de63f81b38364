/**
 * Formulas over number fields: `round(qty * price, 2)` (contract §2). Isomorphic; nothing is ever evaluated as code.
 *
 * An operand that is empty makes the result empty, so that no wrong figure is printed; among the arguments of min, max
 * and sum, an empty one is left out.
 */

export type Formula =
  | { kind: "number"; value: number }
  | { kind: "field"; id: string }
  | { kind: "negate"; of: Formula }
  | { kind: "binary"; operator: Operator; left: Formula; right: Formula }
  | { kind: "call"; name: FunctionName; arguments: Formula[] };
type Operator = "+" | "-" | "*" | "/";
type FunctionName = "min" | "max" | "round" | "sum";

/** The message is a sentence for the author of the formula. */
export class FormulaError extends Error {
  override name = "FormulaError";
  /** Where in the formula it is, in characters from its beginning on. */
  readonly at: number;
  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}

const mostDepth = 50;
const mostDecimals = 10;

type Token = { at: number } & (
  | { kind: "number"; value: number }
  | { kind: "name"; text: string }
  | { kind: "symbol"; text: string }
);

/**
 * Reads a formula. A field id may hold `-`: `qty-price` is the field of that name when there is one, else a difference.
 * @param knows whether there is a field of this id
 * @throws FormulaError
 */
export function parseFormula(expression: string, knows: (id: string) => boolean): Formula {
  const parser = new Parser(tokenize(expression, knows), expression.length);
  const formula = parser.sum(0);
  parser.end();
  return formula;
}

function tokenize(expression: string, knows: (id: string) => boolean): Token[] {
  const tokens: Token[] = [];
  const pattern = /\s*(?:(\d+(?:\.\d+)?|\.\d+)|([A-Za-z][A-Za-z0-9_-]*)|([-+*/(),]))/y;
  const text = expression.trimEnd();
  while (pattern.lastIndex < text.length) {
    const at = pattern.lastIndex;
    const start = at + text.slice(at).search(/\S/);
    const found = pattern.exec(text);
    if (found === null)
      throw new FormulaError(`The formula has something unreadable at character ${start + 1}.`, start);
    const [, number, name, symbol] = found;
    if (number !== undefined) tokens.push({ at: start, kind: "number", value: Number(number) });
    else if (symbol !== undefined) tokens.push({ at: start, kind: "symbol", text: symbol });
    else if (name !== undefined) {
      const id = longestKnown(name, knows);
      tokens.push({ at: start, kind: "name", text: id });
      pattern.lastIndex -= name.length - id.length;
    }
  }
  return tokens;
}

/** The longest beginning of the text, ending at a hyphen or its end, that is a field; else what stands before the first hyphen. */
function longestKnown(text: string, knows: (id: string) => boolean): string {
  for (let end = text.length; end > 0; end = text.lastIndexOf("-", end - 1)) {
    const candidate = text.slice(0, end);
    if (knows(candidate)) return candidate;
  }
  return text.split("-", 1)[0] ?? text;
}

class Parser {
  readonly #tokens: readonly Token[];
  readonly #length: number;
  #next = 0;

  constructor(tokens: readonly Token[], length: number) {
    this.#tokens = tokens;
    this.#length = length;
  }

  sum(depth: number): Formula {
    let left = this.#product(depth);
    for (let operator = this.#take("+", "-"); operator !== undefined; operator = this.#take("+", "-")) {
      left = { kind: "binary", operator, left, right: this.#product(depth) };
    }
    return left;
  }

  end(): void {
    if (this.#next < this.#tokens.length)
      throw this.#error(`The formula has \`${this.#shown()}\` where it should end.`);
  }

  #product(depth: number): Formula {
    let left = this.#factor(depth);
    for (let operator = this.#take("*", "/"); operator !== undefined; operator = this.#take("*", "/")) {
      left = { kind: "binary", operator, left, right: this.#factor(depth) };
    }
    return left;
  }

  #factor(depth: number): Formula {
    if (depth > mostDepth) throw this.#error(`The formula is nested deeper than ${mostDepth} levels.`);
    if (this.#take("-") !== undefined) return { kind: "negate", of: this.#factor(depth + 1) };
    if (this.#take("+") !== undefined) return this.#factor(depth + 1);
    if (this.#take("(") !== undefined) {
      const inner = this.sum(depth + 1);
      this.#expect(")");
      return inner;
    }
    const token = this.#tokens[this.#next++];
    if (token?.kind === "number") return { kind: "number", value: token.value };
    if (token?.kind === "name") {
      if (isFunction(token.text) && this.#take("(") !== undefined) return this.#call(token.text, depth + 1);
      return { kind: "field", id: token.text };
    }
    if (token === undefined) throw this.#error("The formula ends too early.");
    throw new FormulaError(`The formula has \`${token.text}\` where a number or a field should stand.`, token.at);
  }

  #call(name: FunctionName, depth: number): Formula {
    const found = [this.sum(depth)];
    while (this.#take(",") !== undefined) found.push(this.sum(depth));
    this.#expect(")");
    if (name === "round") {
      const [, digits] = found;
      if (found.length > 2) throw this.#error("round takes a number and how many decimals to keep.");
      if (
        digits !== undefined &&
        !(digits.kind === "number" && Number.isInteger(digits.value) && digits.value <= mostDecimals)
      ) {
        throw this.#error(`The decimals of round are a whole number from 0 to ${mostDecimals}.`);
      }
    }
    return { kind: "call", name, arguments: found };
  }

  #take<S extends string>(...symbols: S[]): S | undefined {
    const token = this.#tokens[this.#next];
    const found = token?.kind === "symbol" ? symbols.find((symbol) => symbol === token.text) : undefined;
    if (found !== undefined) this.#next++;
    return found;
  }

  #expect(symbol: string): void {
    if (this.#take(symbol) === undefined) throw this.#error(`The formula lacks a \`${symbol}\`.`);
  }

  #error(message: string): FormulaError {
    return new FormulaError(message, this.#tokens[this.#next]?.at ?? this.#length);
  }

  #shown(): string {
    const token = this.#tokens[this.#next];
    return token === undefined ? "" : token.kind === "number" ? String(token.value) : token.text;
  }
}

function isFunction(text: string): text is FunctionName {
  return text === "min" || text === "max" || text === "round" || text === "sum";
}

/** Ids of the fields in a formula, each once. */
export function fieldsOfFormula(formula: Formula): string[] {
  const found = new Set<string>();
  const visit = (node: Formula): void => {
    if (node.kind === "field") found.add(node.id);
    else if (node.kind === "negate") visit(node.of);
    else if (node.kind === "binary") {
      visit(node.left);
      visit(node.right);
    } else if (node.kind === "call") node.arguments.forEach(visit);
  };
  visit(formula);
  return [...found];
}

/**
 * The figure, or null when an operand is empty, a divisor is zero or the result is no finite number.
 * @param numberOf the number of a field, null while it is empty
 */
export function evaluateFormula(formula: Formula, numberOf: (id: string) => number | null): number | null {
  const value = evaluate(formula, numberOf);
  if (value === null || !Number.isFinite(value)) return null;
  // Binary fractions make 0.1 + 0.2 end in …04: 15 digits are what a double carries faithfully.
  return Number(value.toPrecision(15)) + 0;
}

function evaluate(node: Formula, numberOf: (id: string) => number | null): number | null {
  switch (node.kind) {
    case "number":
      return node.value;
    case "field":
      return numberOf(node.id);
    case "negate": {
      const value = evaluate(node.of, numberOf);
      return value === null ? null : -value;
    }
    case "binary": {
      const left = evaluate(node.left, numberOf);
      const right = evaluate(node.right, numberOf);
      return left === null || right === null ? null : apply(node.operator, left, right);
    }
    case "call": {
      const values = node.arguments.map((argument) => evaluate(argument, numberOf));
      if (node.name === "round") {
        const [value, decimals] = values;
        return value === null || value === undefined ? null : roundHalfUp(value, decimals ?? 0);
      }
      const given = values.filter((value) => value !== null);
      if (given.length === 0) return null;
      if (node.name === "sum") return given.reduce((total, value) => total + value, 0);
      return node.name === "min" ? Math.min(...given) : Math.max(...given);
    }
  }
}

function apply(operator: Operator, left: number, right: number): number | null {
  switch (operator) {
    case "+":
      return left + right;
    case "-":
      return left - right;
    case "*":
      return left * right;
    case "/":
      return right === 0 ? null : left / right;
  }
}

/** Commercial rounding of the decimal that a person reads: half away from zero, 1.005 to two decimals is 1.01. */
export function roundHalfUp(value: number, decimals: number): number {
  if (!Number.isFinite(value)) return value;
  const shifted = shift(Math.abs(Number(value.toPrecision(15))), decimals);
  return Math.sign(value) * shift(Math.round(shifted), -decimals) + 0;
}

/** Moves the decimal point in the number's text, so that no binary fraction creeps in. */
function shift(value: number, places: number): number {
  const [digits = "0", exponent = "0"] = String(value).split("e");
  return Number(`${digits}e${Number(exponent) + places}`);
}
