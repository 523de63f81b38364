import { createElement, type ReactNode } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import type { Message } from "./messages.ts";

// Mail programs read inline styles; the few that know the media query turn the same classes dark.
const styles = `
  @media (prefers-color-scheme: dark) {
    .page { background: #16181d !important; }
    .card { background: #20242b !important; border-color: #343a44 !important; }
    .ink { color: #f1f3f5 !important; }
    .soft { color: #a9b1bc !important; }
    .quote { background: #2a2f38 !important; border-color: #5c7cfa !important; }
    .code { background: #2a2f38 !important; color: #f1f3f5 !important; border-color: #454c58 !important; }
    .link { color: #91a7ff !important; }
  }
  @media (max-width: 600px) { .card { padding: 24px 20px !important; } .outer { padding: 16px 8px !important; } }
`;
const sans = "-apple-system, BlinkMacSystemFont, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif";
const paragraph = { margin: "0 0 16px", fontSize: "16px", lineHeight: "25px", color: "#343a40" };
const small = { margin: "0 0 8px", fontSize: "13px", lineHeight: "20px", color: "#6b737c" };

/** The HTML form: one column, no pictures, no scripts, nothing loaded from anywhere. */
export function htmlOf(message: Message, organization: string): string {
  const { language, direction } = message;
  const head = createElement(
    "head",
    null,
    createElement("meta", { httpEquiv: "Content-Type", content: "text/html; charset=utf-8" }),
    createElement("meta", { name: "viewport", content: "width=device-width, initial-scale=1" }),
    createElement("meta", { name: "color-scheme", content: "light dark" }),
    createElement("meta", { name: "supported-color-schemes", content: "light dark" }),
    createElement("title", null, message.subject),
    createElement("style", null, styles),
  );
  const page = createElement(
    "body",
    {
      className: "page",
      style: { margin: 0, padding: 0, background: "#f1f3f5", fontFamily: sans },
    },
    preview(message),
    table(
      { className: "outer", style: { padding: "32px 16px" } },
      table(
        {
          className: "card",
          style: {
            background: "#ffffff",
            border: "1px solid #dee2e6",
            borderRadius: "12px",
            padding: "36px 40px",
            maxWidth: "560px",
          },
          width: 560,
        },
        createElement("p", { className: "soft", style: { ...small, margin: "0 0 20px" } }, organization),
        createElement(
          "h1",
          {
            className: "ink",
            style: { margin: "0 0 20px", fontSize: "22px", lineHeight: "30px", fontWeight: 600, color: "#212529" },
          },
          message.heading,
        ),
        ...message.paragraphs.map((text) =>
          createElement("p", { className: "ink", style: paragraph, key: text }, text),
        ),
        quoteOf(message),
        codeOf(message),
        buttonOf(message),
        ...message.notes.map((text) => createElement("p", { className: "soft", style: small, key: text }, text)),
      ),
      createElement(
        "div",
        { style: { maxWidth: "560px", margin: "20px auto 0", textAlign: "center" } },
        ...message.footer.map((text) =>
          createElement("p", { className: "soft", style: { ...small, margin: 0, fontSize: "12px" }, key: text }, text),
        ),
      ),
    ),
  );
  return `<!doctype html>${renderToStaticMarkup(createElement("html", { lang: language, dir: direction }, head, page))}`;
}

/** What mail programs show behind the subject in the list. */
function preview(message: Message): ReactNode {
  const text = message.paragraphs.at(-1) ?? message.heading;
  return createElement(
    "div",
    { style: { display: "none", maxHeight: 0, overflow: "hidden", opacity: 0 }, "aria-hidden": true },
    text,
  );
}

type CellProps = { className: string; style: Record<string, string | number>; width?: number };

/** Tables, because Outlook lays out nothing else reliably. */
function table({ className, style, width }: CellProps, ...children: ReactNode[]): ReactNode {
  return createElement(
    "table",
    {
      role: "presentation",
      align: "center",
      width: width ?? "100%",
      cellPadding: 0,
      cellSpacing: 0,
      border: 0,
      style: {
        width: "100%",
        maxWidth: width === undefined ? undefined : `${width}px`,
        margin: "0 auto",
        borderCollapse: "separate",
      },
    },
    createElement("tbody", null, createElement("tr", null, createElement("td", { className, style }, ...children))),
  );
}

function quoteOf({ quote }: Message): ReactNode {
  if (quote === null) return null;
  return createElement(
    "div",
    {
      className: "quote",
      style: {
        margin: "0 0 20px",
        padding: "14px 18px",
        background: "#f4f6ff",
        borderInlineStart: "3px solid #4263eb",
        borderRadius: "6px",
      },
    },
    quote.label === null
      ? null
      : createElement("p", { className: "soft", style: { ...small, margin: "0 0 4px" } }, quote.label),
    createElement(
      "p",
      { className: "ink", style: { ...paragraph, margin: 0, whiteSpace: "pre-wrap", overflowWrap: "anywhere" } },
      quote.text,
    ),
  );
}

function codeOf({ code }: Message): ReactNode {
  if (code === null) return null;
  return createElement(
    "p",
    {
      className: "code",
      dir: "ltr",
      style: {
        margin: "8px 0 24px",
        padding: "18px",
        textAlign: "center",
        fontFamily: "ui-monospace, SFMono-Regular, Menlo, Consolas, monospace",
        fontSize: "32px",
        lineHeight: "36px",
        letterSpacing: "8px",
        fontWeight: 600,
        color: "#212529",
        background: "#f8f9fa",
        border: "1px solid #dee2e6",
        borderRadius: "8px",
      },
    },
    code,
  );
}

function buttonOf({ button }: Message): ReactNode {
  if (button === null) return null;
  const label = createElement(
    "a",
    {
      href: button.url,
      style: {
        display: "inline-block",
        padding: "13px 26px",
        background: "#3b5bdb",
        color: "#ffffff",
        fontSize: "16px",
        lineHeight: "22px",
        fontWeight: 600,
        textDecoration: "none",
        borderRadius: "8px",
      },
    },
    button.label,
  );
  const plain = createElement(
    "p",
    { style: { ...small, margin: "0 0 20px", overflowWrap: "anywhere" } },
    createElement("a", { className: "link", href: button.url, style: { color: "#3b5bdb" } }, button.url),
  );
  return createElement("div", null, createElement("p", { style: { margin: "8px 0 16px" } }, label), plain);
}
