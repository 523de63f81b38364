import { z } from "zod";
import { recordOf } from "../../kernel/record.ts";
import { FlowField } from "./fields.ts";

/** The body of a Document-mode template: ProseMirror JSON (contract §2). Isomorphic. */

export const documentNodeTypes = [
  "doc",
  "paragraph",
  "heading",
  "bulletList",
  "orderedList",
  "listItem",
  "blockquote",
  "table",
  "tableRow",
  "tableHeader",
  "tableCell",
  "horizontalRule",
  "pageBreak",
  "hardBreak",
  "image",
  "text",
  "variable",
  "field",
] as const;

const DocMark = z.discriminatedUnion("type", [
  z.strictObject({ type: z.enum(["bold", "italic", "underline", "strike", "subscript", "superscript"]) }),
  z.strictObject({ type: z.literal("link"), attrs: z.strictObject({ href: z.string().max(2048) }) }),
  z.strictObject({
    type: z.literal("textStyle"),
    attrs: z.strictObject({
      color: z.string().max(32).optional(),
      fontFamily: z.string().max(64).optional(),
      fontSize: z.number().min(1).max(400).optional(),
    }),
  }),
]);

export const DocNode = z
  .strictObject({
    type: z.enum(documentNodeTypes),
    attrs: recordOf(z.string(), z.json()).optional(),
    get content() {
      return z.array(DocNode).optional();
    },
    text: z.string().max(100_000).optional(),
    marks: z.array(DocMark).max(20).optional(),
  })
  .meta({ id: "DocNode" });
export type DocNode = z.infer<typeof DocNode>;

const margin = z.number().min(0).max(400);
export const DocumentContent = z
  .strictObject({
    mode: z.literal("document"),
    body: DocNode,
    header: DocNode.nullable(),
    footer: DocNode.nullable(),
    page: z.strictObject({
      size: z.enum(["A4", "Letter", "Legal"]),
      orientation: z.enum(["portrait", "landscape"]),
      margins: z
        .strictObject({ top: margin, right: margin, bottom: margin, left: margin })
        .meta({ description: "Points" }),
    }),
    font: z.strictObject({
      family: z.string().min(1).max(64),
      size: z.number().min(4).max(100),
      lineHeight: z.number().min(0.5).max(10),
    }),
    fields: z.array(FlowField).max(500),
  })
  .meta({ id: "DocumentContent" });
export type DocumentContent = z.infer<typeof DocumentContent>;
