/**
 * Regular expressions that template authors write, matched in linear time. Isomorphic.
 *
 * A backtracking matcher can be made to run for hours by `(a+)+$`, and a signing page as well as the server would stand
 * still. So the pattern is compiled to a non-deterministic automaton and all its states are followed at once: the cost
 * is states × characters, whatever the pattern. Single characters and classes are handed to the engine's own RegExp, one
 * character at a time, which cannot backtrack. What needs backtracking by its nature (backreferences, look-around) is
 * refused when the template is published. The whole value must match, as with HTML's `pattern`.
 */

/** The message is a sentence for the author of the pattern. */
export class PatternError extends Error {
  override name = "PatternError";
}

const mostStates = 1000;
const mostRepeats = 1000;
const mostDepth = 50;

type Atom = { source: string; test: RegExp; known: Map<string, boolean> };
type Node =
  | { kind: "empty" | "start" | "end" }
  | { kind: "atom"; atom: Atom }
  | { kind: "sequence" | "choice"; of: Node[] }
  | { kind: "repeat"; of: Node; min: number; max: number | null };

/** A state of the automaton: takes a character and goes on, forks, asserts an end of the text, or accepts. */
type State =
  | { kind: "atom"; atom: Atom; next: number }
  | { kind: "fork"; next: number[] }
  | { kind: "start" | "end"; next: number }
  | { kind: "accept" };

export type Pattern = { states: readonly State[]; first: number };

const compiled = new Map<string, Pattern>();
const mostCompiled = 200;

/** @throws PatternError */
export function compilePattern(source: string): Pattern {
  const known = compiled.get(source);
  if (known) return known;
  const node = new PatternParser(source).parse();
  const pattern = new Automaton().of(node);
  if (compiled.size >= mostCompiled) compiled.clear();
  compiled.set(source, pattern);
  return pattern;
}

/** Whether the whole text matches. */
export function matches(pattern: Pattern, text: string): boolean {
  const characters = Array.from(text);
  let active = new Set<number>();
  enter(pattern, pattern.first, active, 0, characters.length);
  for (const [index, character] of characters.entries()) {
    const following = new Set<number>();
    for (const id of active) {
      const state = pattern.states[id];
      if (state?.kind === "atom" && takes(state.atom, character)) {
        enter(pattern, state.next, following, index + 1, characters.length);
      }
    }
    if (following.size === 0) return false;
    active = following;
  }
  for (const id of active) if (pattern.states[id]?.kind === "accept") return true;
  return false;
}

function takes(atom: Atom, character: string): boolean {
  const known = atom.known.get(character);
  if (known !== undefined) return known;
  const taken = atom.test.test(character);
  if (atom.known.size < 4096) atom.known.set(character, taken);
  return taken;
}

/** Adds a state and all that are reached from it without a character. */
function enter(pattern: Pattern, id: number, active: Set<number>, at: number, length: number): void {
  const waiting = [id];
  for (let current = waiting.pop(); current !== undefined; current = waiting.pop()) {
    if (active.has(current)) continue;
    active.add(current);
    const state = pattern.states[current];
    if (state?.kind === "fork") waiting.push(...state.next);
    else if (state?.kind === "start" && at === 0) waiting.push(state.next);
    else if (state?.kind === "end" && at === length) waiting.push(state.next);
  }
}

/** Writes the states of a pattern from its end to its start. */
class Automaton {
  readonly #states: State[] = [{ kind: "accept" }];
  // Counts nodes too, since a repeated nothing makes work but no states.
  #work = 0;

  of(node: Node): Pattern {
    const first = this.#build(node, 0);
    return { states: this.#states, first };
  }

  /** @returns the first state of the node, which goes on to `next` */
  #build(node: Node, next: number): number {
    this.#work += 1;
    if (this.#work > mostStates * 10) throw new PatternError("The pattern is too large.");
    switch (node.kind) {
      case "empty":
        return next;
      case "start":
      case "end":
        return this.#add({ kind: node.kind, next });
      case "atom":
        return this.#add({ kind: "atom", atom: node.atom, next });
      case "sequence":
        return node.of.reduceRight((following, part) => this.#build(part, following), next);
      case "choice":
        return this.#add({ kind: "fork", next: node.of.map((part) => this.#build(part, next)) });
      case "repeat":
        return this.#repeat(node, next);
    }
  }

  #repeat(node: Extract<Node, { kind: "repeat" }>, next: number): number {
    let following = next;
    if (node.max === null) {
      const ways = [next];
      following = this.#add({ kind: "fork", next: ways });
      ways.push(this.#build(node.of, following));
    } else {
      for (let i = node.min; i < node.max; i++) {
        following = this.#add({ kind: "fork", next: [this.#build(node.of, following), next] });
      }
    }
    for (let i = 0; i < node.min; i++) following = this.#build(node.of, following);
    return following;
  }

  #add(state: State): number {
    if (this.#states.length >= mostStates) throw new PatternError("The pattern is too large.");
    return this.#states.push(state) - 1;
  }
}

class PatternParser {
  readonly #characters: readonly string[];
  #next = 0;

  constructor(source: string) {
    this.#characters = Array.from(source);
  }

  parse(): Node {
    const node = this.#choice(0);
    if (this.#next < this.#characters.length) throw new PatternError("The pattern has a `)` without its `(`.");
    return node;
  }

  #choice(depth: number): Node {
    if (depth > mostDepth) throw new PatternError(`The pattern is nested deeper than ${mostDepth} levels.`);
    const branches = [this.#sequence(depth)];
    while (this.#take("|")) branches.push(this.#sequence(depth));
    return branches.length === 1 && branches[0] !== undefined ? branches[0] : { kind: "choice", of: branches };
  }

  #sequence(depth: number): Node {
    const parts: Node[] = [];
    for (
      let character = this.#peek();
      character !== undefined && character !== "|" && character !== ")";
      character = this.#peek()
    ) {
      parts.push(this.#repeated(this.#single(depth)));
    }
    return parts.length === 0 ? { kind: "empty" } : { kind: "sequence", of: parts };
  }

  #single(depth: number): Node {
    const character = this.#characters[this.#next++];
    switch (character) {
      case "^":
        return { kind: "start" };
      case "$":
        return { kind: "end" };
      case ".":
        return atom(".");
      case "[":
        return atom(this.#class());
      case "\\":
        return atom(this.#escape());
      case "(": {
        if (this.#take("?") && !this.#take(":")) {
          throw new PatternError(
            "The pattern may group with `(…)` and `(?:…)` only; look-around and names are not offered.",
          );
        }
        const inner = this.#choice(depth + 1);
        if (!this.#take(")")) throw new PatternError("The pattern has a `(` without its `)`.");
        return inner;
      }
      case "*":
      case "+":
      case "?":
      case "{":
        throw new PatternError(`The pattern repeats nothing with \`${character}\`.`);
      case "]":
      case "}":
        return atom(`\\${character}`);
      default:
        // A slash needs its backslash in the u syntax; a plain character stands for itself.
        return atom(character === "/" ? "\\/" : (character ?? ""));
    }
  }

  #repeated(of: Node): Node {
    let node = of;
    for (;;) {
      const bounds = this.#bounds();
      if (bounds === undefined) return node;
      // A lazy repeat finds the same texts, as the whole of the value has to match.
      this.#take("?");
      if (node !== of) throw new PatternError("The pattern repeats a repetition; put the inner one in a group.");
      node = { kind: "repeat", of, ...bounds };
    }
  }

  #bounds(): { min: number; max: number | null } | undefined {
    if (this.#take("*")) return { min: 0, max: null };
    if (this.#take("+")) return { min: 1, max: null };
    if (this.#take("?")) return { min: 0, max: 1 };
    if (!this.#take("{")) return undefined;
    const end = this.#characters.indexOf("}", this.#next);
    const found = /^(\d{1,4})(,(\d{1,4})?)?$/.exec(end < 0 ? "" : this.#characters.slice(this.#next, end).join(""));
    if (found === null) throw new PatternError("The pattern has a `{` that is not a count like {3}, {2,} or {2,5}.");
    this.#next = end + 1;
    const min = Number(found[1]);
    const max = found[2] === undefined ? min : found[3] === undefined ? null : Number(found[3]);
    if (min > mostRepeats || (max ?? 0) > mostRepeats)
      throw new PatternError(`The pattern repeats more than ${mostRepeats} times.`);
    if (max !== null && max < min) throw new PatternError("The pattern has a count whose end is below its start.");
    return { min, max };
  }

  /** Source of a class, from its bracket on. */
  #class(): string {
    let source = "[";
    for (
      let character = this.#characters[this.#next++];
      character !== "]";
      character = this.#characters[this.#next++]
    ) {
      if (character === undefined) throw new PatternError("The pattern has a `[` without its `]`.");
      // Without the escape a nested bracket would be a syntax of the newer v flag only.
      source += character === "\\" ? this.#escape() : character;
    }
    return `${source}]`;
  }

  /** Source of an escape, from its backslash on. */
  #escape(): string {
    const character = this.#characters[this.#next++];
    if (character === undefined) throw new PatternError("The pattern ends with a single backslash.");
    if (/[1-9]/.test(character)) throw new PatternError("The pattern may not refer back to a group.");
    if (character === "k" || character === "b" || character === "B") {
      throw new PatternError(`The pattern may not use \\${character}.`);
    }
    const length = character === "x" ? 2 : character === "u" && this.#peek() !== "{" ? 4 : 0;
    if (character === "c") return `\\c${this.#characters[this.#next++] ?? ""}`;
    if ((character === "p" || character === "P" || character === "u") && this.#peek() === "{") {
      const end = this.#characters.indexOf("}", this.#next);
      if (end < 0) throw new PatternError("The pattern has a `{` without its `}`.");
      const braces = this.#characters.slice(this.#next, end + 1).join("");
      this.#next = end + 1;
      return `\\${character}${braces}`;
    }
    const digits = this.#characters.slice(this.#next, this.#next + length).join("");
    this.#next += length;
    return `\\${character}${digits}`;
  }

  #peek(): string | undefined {
    return this.#characters[this.#next];
  }

  #take(character: string): boolean {
    if (this.#characters[this.#next] !== character) return false;
    this.#next++;
    return true;
  }
}

function atom(source: string): Node {
  try {
    return { kind: "atom", atom: { source, test: new RegExp(`^${source}$`, "u"), known: new Map() } };
  } catch {
    throw new PatternError(`The pattern has \`${source}\`, which is not a character or class.`);
  }
}
