import { readFileSync, statSync } from "node:fs";
import path from "node:path";
import ts from "typescript";
import type { Programs } from "./system-packages.ts";

/**
 * Which programs a test calls, read off its source and that of the files of tests and scripts it is made of. Seen are the first arguments of
 * `node:child_process` and of functions that hand one on, words of a shell's command, and full paths of known programs. Not seen is what
 * a program of ours calls by itself: `npm run test:fresh` meets it.
 */

const root = path.resolve(import.meta.dirname, "..");
const table = path.join(root, "scripts/system-packages.ts");
const launches = new Set(["execFile", "execFileSync", "spawn", "spawnSync", "exec", "execSync"]);
const runsOthers = new Set(["sh", "bash", "env", "nice", "setsid", "flock", "strace", "script"]);

export type Calls = {
  programs: Set<string>;
  /** Calls whose program cannot be read off the source: line and text. */
  unclear: string[];
  /** Absolute paths of our files that it imports or names. */
  files: Set<string>;
};

const read = new Map<string, Calls>();

/** @param known programs that count wherever their full path, or a shell command with their name, stands */
export function callsOf(file: string, known: Programs): Calls {
  const before = read.get(file);
  if (before) return before;
  const calls = callsIn(file, known);
  read.set(file, calls);
  return calls;
}

/**
 * Everything that the file reaches: tests and scripts entirely, and the server's files that one of them imports itself.
 * @returns names of programs, and the files, both of which include what the file itself has
 */
export function reachedFrom(file: string, known: Programs): { programs: Set<string>; files: Set<string> } {
  const programs = new Set<string>();
  const files = new Set([file]);
  // A set goes on to what is added while it is walked.
  for (const one of files) {
    const calls = callsOf(one, known);
    for (const program of calls.programs) programs.add(program);
    if (isOurTool(one)) for (const next of calls.files) files.add(next);
  }
  return { programs, files };
}

const isOurTool = (file: string): boolean => /^(test|scripts|installer)\//.test(path.relative(root, file));

function callsIn(file: string, known: Programs): Calls {
  const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true);
  const calls: Calls = { programs: new Set(), unclear: [], files: new Set() };
  const paths = new Map(Object.keys(known).map((one) => [one, path.basename(one)]));
  const launchers = launchersOf(source);
  each(source, (node) => {
    if (ts.isStringLiteralLike(node)) {
      // The table itself calls none.
      const program = file === table ? undefined : paths.get(node.text);
      if (program !== undefined) calls.programs.add(program);
      for (const base of [path.dirname(file), root]) {
        const other = path.resolve(base, node.text);
        if (/\.[cm]?ts$/.test(node.text) && statSync(other, { throwIfNoEntry: false })?.isFile())
          calls.files.add(other);
      }
    }
    if (!ts.isCallExpression(node)) return;
    const place = launchers.find((one) => one.is(node.expression))?.place;
    const argument = place === undefined ? undefined : node.arguments[place];
    if (argument === undefined) return;
    for (const program of programsOf(argument)) {
      if (program === null) {
        const { line } = source.getLineAndCharacterOfPosition(argument.getStart());
        calls.unclear.push(`${path.relative(root, file)}:${line + 1} ${argument.getText()}`);
      } else if (program !== "") calls.programs.add(program);
      if (program !== null && runsOthers.has(program))
        for (const word of wordsOf(node)) if ([...paths.values()].includes(word)) calls.programs.add(word);
    }
  });
  return calls;
}

type Launcher = {
  is: (callee: ts.Expression) => boolean;
  /** Which of its arguments is the program. */
  place: number;
};

/** Of `node:child_process`, `promisify` of one, and each function of the file that hands one of its own parameters on as the program. */
function launchersOf(source: ts.SourceFile): Launcher[] {
  const places = new Map<string, number>();
  each(source, (node) => {
    if (!ts.isImportDeclaration(node) || !/^(node:)?child_process$/.test(textOf(node.moduleSpecifier))) return;
    const names = node.importClause?.namedBindings;
    if (names && ts.isNamedImports(names))
      for (const { name, propertyName } of names.elements)
        if (launches.has((propertyName ?? name).text)) places.set(name.text, 0);
  });
  const promisified = (node: ts.Node): boolean =>
    ts.isCallExpression(node) &&
    node.expression.getText() === "promisify" &&
    places.has(node.arguments[0]?.getText() ?? "");
  const is = (callee: ts.Expression): number | undefined =>
    promisified(callee) ? 0 : ts.isIdentifier(callee) ? places.get(callee.text) : undefined;
  for (let size = -1; size !== places.size; ) {
    size = places.size;
    each(source, (node) => {
      if (ts.isVariableDeclaration(node) && node.initializer && promisified(node.initializer))
        places.set(node.name.getText(), 0);
      if (!ts.isCallExpression(node)) return;
      const argument = node.arguments[is(node.expression) ?? -1];
      const hands = argument && ts.isIdentifier(argument) ? parameterOf(argument) : undefined;
      if (hands?.name !== undefined) places.set(hands.name, hands.place);
    });
  }
  const all = [...new Set(places.values())];
  return all.map((place) => ({ place, is: (callee) => is(callee) === place }));
}

/** The function whose parameter the name is: its own name, where it has one, and which parameter. */
function parameterOf(used: ts.Identifier): { name: string | undefined; place: number } | undefined {
  for (let at: ts.Node = used; at.parent; at = at.parent) {
    if (!ts.isFunctionLike(at)) continue;
    const place = at.parameters.findIndex(({ name }) => name.getText() === used.text);
    if (place < 0) continue;
    const named = at.name ?? (ts.isVariableDeclaration(at.parent) ? at.parent.name : undefined);
    return { name: named?.getText(), place };
  }
  return undefined;
}

/** @returns names; "" is a file of ours, or one that the test made; null cannot be told */
function programsOf(argument: ts.Expression): (string | null)[] {
  if (ts.isStringLiteralLike(argument)) return [nameOf(argument.text)];
  if (ts.isTemplateExpression(argument)) return [argument.getText().includes("/") ? "" : null];
  if (ts.isConditionalExpression(argument))
    return [...programsOf(argument.whenTrue), ...programsOf(argument.whenFalse)];
  if (ts.isBinaryExpression(argument)) return [...programsOf(argument.left), ...programsOf(argument.right)];
  if (ts.isCallExpression(argument))
    return [/\b(join|resolve|at|inside)$/.test(argument.expression.getText()) ? "" : null];
  if (argument.getText() === "process.execPath") return [""];
  if (!ts.isIdentifier(argument)) return [null];
  // Whoever calls this function names it.
  if (parameterOf(argument)?.name !== undefined) return [];
  const values: ts.Expression[] = [];
  each(argument.getSourceFile(), (node) => {
    if (ts.isVariableDeclaration(node) && node.name.getText() === argument.text && node.initializer)
      values.push(node.initializer);
  });
  return values.length === 0 ? [null] : values.flatMap(programsOf);
}

/** Of a call by full path the last part; a path below the checkout is one of ours. */
function nameOf(program: string): string {
  if (!program.includes("/")) return program;
  return path.isAbsolute(program) ? path.basename(program) : "";
}

function wordsOf(call: ts.CallExpression): string[] {
  const words: string[] = [];
  each(call, (node) => {
    if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node))
      words.push(...node.text.split(/[\s;|&()`$"']+/));
  });
  return words;
}

const textOf = (node: ts.Expression): string => (ts.isStringLiteralLike(node) ? node.text : "");

function each(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node);
  ts.forEachChild(node, (child) => each(child, visit));
}
