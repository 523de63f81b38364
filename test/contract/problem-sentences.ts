import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";

/** What the source says to callers whom it refuses something: the sentences, with `{}` for what they insert. */

const root = path.resolve(import.meta.dirname, "../..");

type Sentence = { text: string; place: string };

/** Whose sentences nobody reads as the `detail` of an error that the API answers with. */
const elsewhere: readonly RegExp[] = [
  // The command line, the settings, the start, what the administrator's socket alone offers, and what assistants are told.
  /^server\/(commands|migrations|features\/(backup|update|tls|health|appliance|mcp))\//,
  /^server\/(cli|config|front|local-client|operations)\.ts$/,
  /^server\/kernel\/(address-guard|client-ip|master-key|start-fault)\.ts$/,
  /^server\/features\/keys\/(authority|ceremony|given-certificates|pkcs11.*|rotation|token|unavailable)\.ts$/,
  /^server\/features\/identity\/administration\.ts$/,
  /^server\/features\/(evidence\/anchors\/managed|keys\/managed(-acts)?|mail\/queue|organization\/managed|sign-in\/access)\.ts$/,
  // Pages, mails, the description of the interface, and what a verification, a check or the evidence bundle says.
  /^server\/(pages\/|pages\.ts|kernel\/openapi|features\/(mail\/|webhooks\/examples)|features\/evidence\/(bundle|fsck|verify|words))/,
  /^workers\/seal\/(extend|task)\.ts$/,
  // Why a mail or a job was given up, and the statements that signers agree to.
  /^server\/features\/\w+\/(outlived|handlers|consent-texts)\.ts$/,
];
/** Members and calls that hold other texts: descriptions, examples, logs, failures that are ours. */
const otherMembers = new Set(["description", "summary", "title", "reason", "subject", "body", "name", "data"]);
const otherCalls =
  /^(Error|TypeError|RangeError|ConfigError)$|(^|\.)(describe|error|warn|info|debug|exec|set|get|log)$/;
const inSchema = /\.(regex|refine|min|max|length)$/;

type Source = { file: string; text: string };
export const sources = (...folders: string[]): Source[] =>
  folders.flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts") && !name.includes("problem-words"))
      .map((name) => `${folder}/${name.replaceAll("\\", "/")}`)
      .map((file) => ({ file, text: readFileSync(path.join(root, file), "utf8") })),
  );

/** In the server whatever reads like a sentence, and the words of schemas and of what was not found; in the workers the reasons. */
export function problemSentences(): Sentence[] {
  return sources("server", "workers")
    .filter(({ file }) => !elsewhere.some((pattern) => pattern.test(file)))
    .flatMap((source) => collect(source, source.file.startsWith("workers/") ? reasonIn : saidIn));
}

function collect({ file, text }: Source, sentenceIn: (node: ts.Node, text: string) => string | undefined) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: Sentence[] = [];
  const visit = (node: ts.Node): void => {
    const texts = textsOf(node);
    for (const sentence of texts.flatMap((one) => sentenceIn(node, one) ?? [])) {
      const line = source.getLineAndCharacterOfPosition(node.getStart()).line + 1;
      found.push({ text: sentence, place: `${file}:${line}` });
    }
    if (texts.length === 0 || ts.isTemplateExpression(node)) ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** What a text can be: each branch of what it inserts when those are texts, else `{}`. */
function textsOf(node: ts.Node): string[] {
  if (ts.isStringLiteralLike(node)) return [node.text];
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken) {
    const [left, right] = [textsOf(node.left), textsOf(node.right)];
    return left.flatMap((first) => right.map((second) => first + second));
  }
  if (!ts.isTemplateExpression(node)) return [];
  return node.templateSpans.reduce(
    (begun, { expression, literal }) =>
      begun.flatMap((start) => branches(expression).map((inserted) => start + inserted + literal.text)),
    [node.head.text],
  );
}

function branches(node: ts.Expression): string[] {
  if (ts.isStringLiteralLike(node)) return [node.text];
  if (ts.isConditionalExpression(node)) return [node.whenTrue, node.whenFalse].flatMap(branches);
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.QuestionQuestionToken) {
    return [node.left, node.right].flatMap(branches);
  }
  return ["{}"];
}

const joins = new Set([ts.SyntaxKind.PlusToken, ts.SyntaxKind.QuestionQuestionToken, ts.SyntaxKind.BarBarToken]);
/** The expression that a text is, or a branch of: up through conditions and sums. */
function whole(node: ts.Node): ts.Node {
  const { parent } = node;
  const branch =
    (ts.isConditionalExpression(parent) && node !== parent.condition) ||
    (ts.isBinaryExpression(parent) && joins.has(parent.operatorToken.kind)) ||
    ts.isParenthesizedExpression(parent);
  return branch ? whole(parent) : node;
}

type Call = { name: string; args: readonly ts.Node[] };
/** The name and the arguments of a call, or of the making of an error. */
function called(node: ts.Node): Call | undefined {
  if (!ts.isCallExpression(node) && !ts.isNewExpression(node)) return undefined;
  return { name: node.expression.getText().replaceAll(/\s+/g, ""), args: node.arguments ?? [] };
}

const nameOf = (node: ts.Node): string =>
  ts.isPropertyAssignment(node) || ts.isVariableDeclaration(node) ? node.name.getText() : "";

function saidIn(node: ts.Node, text: string): string | undefined {
  const at = whole(node).parent;
  if (ts.isTemplateSpan(at) || (ts.isPropertyAssignment(at) && otherMembers.has(nameOf(at)))) return undefined;
  const call = called(at);
  if (call?.name === "notFound") return text;
  // `kernel/validate.ts` gives these their full stop.
  if (call && inSchema.test(call.name) && whole(node) !== call.args[0]) return /[.!?]$/.test(text) ? text : `${text}.`;
  if (call && otherCalls.test(call.name)) return undefined;
  const reads = /^[“`{A-Za-z].*[.!?]$/s.test(text) && /[A-Za-z`}] [A-Za-z`“{]/.test(text) && /[A-Za-z]{3}/.test(text);
  return reads ? text : undefined;
}

/** Why a file cannot be used: what a `PdfError`, a refusal or the failure of a task says, wherever its text stands. */
function reasonIn(node: ts.Node, text: string): string | undefined {
  const at = whole(node).parent;
  if (ts.isPropertyAssignment(at) && node === at.name) return undefined;
  const call = called(at);
  const small = /^[a-z]/.test(text);
  const is = call
    ? isReasonOf(call, whole(node))
    : ts.isVariableDeclaration(at)
      ? (small && nameOf(at) === "message") || becomesReason(at)
      : ts.isPropertyAssignment(at)
        ? (small && nameOf(at) === "message") || nameOf(at.parent.parent) === "WORDS"
        : ts.isReturnStatement(at) && /^(This|The) .*\.$/.test(text);
  return is ? text : undefined;
}

function isReasonOf({ name, args }: Call, node: ts.Node): boolean {
  if (/(^|\.)(fail|damaged)$/.test(name)) return true;
  const [code] = args;
  if (!/^(PdfError|Refusal|refused)$/.test(name) || code === undefined || node === code) return false;
  // Of these `inspect.ts` says it in its own words.
  return !["not-a-pdf", "encrypted"].some((one) => code.getText() === `"${one}"`);
}

/** Whether the block of a constant makes it a reason. */
function becomesReason(constant: ts.VariableDeclaration): boolean {
  const uses = (node: ts.Node): boolean => {
    if (ts.isIdentifier(node) && node.text === nameOf(constant) && node.parent !== constant) {
      const call = called(whole(node).parent);
      if (call && isReasonOf(call, whole(node))) return true;
    }
    return ts.forEachChild(node, uses) ?? false;
  };
  return uses(constant.parent.parent.parent);
}
