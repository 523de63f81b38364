import { directionOf } from "../../locales/translate.ts";
import { type ErrorCode, problemKinds } from "../kernel/problem.ts";

/** The pages that need no script: the help for each error code and what is shown where there is nothing. */

/** URLs of the typefaces of the apps, null when they are not built. */
export type Faces = { text: string | null; headings: string | null };

const faceRule = (family: string, url: string | null) =>
  url === null
    ? ""
    : `@font-face { font-family: "${family}"; font-weight: 200 900; font-display: swap; src: url("${url}") format("woff2") }\n`;

const style = `
:root { color-scheme: light dark; --paper: #f4f3ef; --surface: #fff; --ink: #1b2423; --soft: #55605e; --line: #dcdad3; --accent: #17675d; --link: #0f564d }
@media (prefers-color-scheme: dark) { :root { --paper: #121716; --surface: #1a2120; --ink: #e8edeb; --soft: #a3b0ad; --line: #313c3a; --accent: #5fafa3; --link: #9fd4cb } }
* { box-sizing: border-box }
body { margin: 0; min-height: 100dvh; display: grid; place-content: center; grid-template-columns: minmax(0, 40rem); padding: 1.5rem; background: var(--paper); color: var(--ink); font: 1rem/1.6 "Inter", system-ui, sans-serif }
main { background: var(--surface); border: 1px solid var(--line); border-radius: 1rem; padding: clamp(1.25rem, 5vw, 2.5rem) }
h1 { margin: 0 0 .75rem; font: 600 clamp(1.5rem, 5vw, 2rem)/1.2 "Source Serif 4", Georgia, serif; text-wrap: balance }
p { margin: 0 0 1rem } .soft { color: var(--soft) } a { color: var(--link) }
code { font: .925em ui-monospace, monospace; overflow-wrap: anywhere }
ul { margin: 0; padding: 0; list-style: none; display: grid; gap: .75rem }
li a { display: block; padding: .85rem 1rem; border: 1px solid var(--line); border-radius: .75rem; color: inherit; text-decoration: none }
li a:hover, li a:focus-visible { border-color: var(--accent) } li b { display: block; color: var(--link) } li span { color: var(--soft); font-size: .925rem }
dl { display: grid; grid-template-columns: auto 1fr; gap: .35rem 1.25rem; margin: 0 0 1.25rem } dt { color: var(--soft) } dd { margin: 0 }
`;

/** What a plain page is made with. */
export type Setting = {
  nonce: string;
  faces: Faces;
  /** English when not given. */
  language?: string;
  /** When it loads itself again. */
  refreshSeconds?: number;
};

export function page(title: string, setting: Setting, body: string): string {
  const { nonce, faces, language = "en", refreshSeconds } = setting;
  return `<!doctype html>
<html lang="${language}"${directionOf(language) === "rtl" ? ' dir="rtl"' : ""}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">${
    refreshSeconds === undefined
      ? ""
      : `
<meta http-equiv="refresh" content="${refreshSeconds}">`
  }
<link rel="icon" href="data:,">
<title>${title}</title>
<style nonce="${nonce}">${faceRule("Inter", faces.text)}${faceRule("Source Serif 4", faces.headings)}${style}</style>
</head>
<body><main>${body}</main></body>
</html>
`;
}

/** What a caller can do about a kind of answer. */
function advice(status: number): string {
  switch (status) {
    case 401:
      return "Check the credential that the request carries: whether it is complete, of the right kind, and still valid.";
    case 402:
      return "Upgrade the plan of the organization, or wait for the next billing period.";
    case 403:
      return "Use a credential that is allowed to do this; `permission` in the answer names what is missing, when one is.";
    case 404:
      return "Check the address and the id. What belongs to another organization, or to the other mode (test or live), is answered like what does not exist.";
    case 405:
      return "The `Allow` header of the answer names the methods of this address.";
    case 409:
      return "Load the present state and decide anew; repeating the same request helps only when the answer has a `Retry-After` header.";
    case 410:
      return "Ask the sender for a new link.";
    case 413:
    case 415:
      return "The API reference names the content types and the sizes that each operation takes.";
    case 429:
      return "Wait as many seconds as the `Retry-After` header says, then try again.";
    case 400:
    case 422:
      return "Correct the request. `errors` in the answer, when there, points at each member that is wrong.";
    default:
      return "Try again later with the same Idempotency-Key. When it persists, give the request id to the administrator: it leads to the cause in the logs.";
  }
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(problemKinds, code);
}

/** The help page of an error code; null when there is no such code. */
export function errorPage(code: string, setting: Setting): string | null {
  if (!isErrorCode(code)) return null;
  const kind = problemKinds[code];
  return page(
    `${kind.title} · Signet`,
    setting,
    `<h1>${marked(kind.title)}</h1>
<p>${marked(kind.detail)}</p>
<dl><dt>Code</dt><dd><code>${code}</code></dd><dt>HTTP status</dt><dd>${kind.status}</dd></dl>
<p>${marked(advice(kind.status))}</p>
<p class="soft">Every error is answered as <code>application/problem+json</code> (RFC 9457); its <code>requestId</code> also stands in the <code>x-request-id</code> header. <a href="/docs">API reference</a></p>`,
  );
}

/** Escapes for HTML; what stands between backticks becomes code. */
export function marked(text: string): string {
  const escapes: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return text.replace(/[&<>"]/g, (character) => escapes[character] ?? "").replace(/`([^`]+)`/g, "<code>$1</code>");
}

/** Shown instead of an app that was never built. */
export function notBuiltPage(setting: Setting): string {
  return page(
    "Not built · Signet",
    setting,
    "<h1>This page is not built</h1><p>Run <code>npm run build</code> and start the appliance again.</p>",
  );
}

/** Shown at an address where there is nothing. */
export function notFoundPage(setting: Setting): string {
  return page(
    "Nothing here · Signet",
    setting,
    `<h1>There is nothing at this address</h1>
<p>The address may be incomplete: links from e-mails are long and sometimes break across lines. Copy the whole link, or open it from the e-mail once more.</p>
<ul>
<li><a href="/"><b>Sign in</b><span>Templates, envelopes and settings of your organization.</span></a></li>
<li><a href="/verify"><b>Verify a document</b><span>Check that a PDF was sealed here and is unchanged.</span></a></li>
<li><a href="/docs"><b>API reference</b><span>All operations, with parameters, schemas and errors.</span></a></li>
</ul>`,
  );
}
