import { z } from "zod";
import { textPatterns } from "../../kernel/text-patterns.ts";
import { Day, Email } from "../../kernel/wire.ts";

/** Fields, texts and boxes that a template places on pages (contract §2). Isomorphic. */

const Color = z.string().regex(/^#[0-9a-fA-F]{6}$/, "Use a colour as #rrggbb.");
const points = z.number().min(-20_000).max(20_000);
/** How far a box may stand outside its page, in points. */
export const boxTolerance = 1;

export const Box = z
  .strictObject({
    page: z.int().min(1).max(500).meta({ description: "1-based" }),
    x: points,
    y: points,
    width: z.number().positive().max(20_000),
    height: z.number().positive().max(20_000),
  })
  .meta({ id: "Box", description: "Points; origin top left of the page as displayed" });
export type Box = z.infer<typeof Box>;
const boxShape = Box.shape;

/** The faces that texts can be set in; every other name is set in the first. */
export const textFaces = [
  "Noto Sans",
  "Noto Sans Mono",
  "Caveat",
  "Dancing Script",
  "Great Vibes",
  "Homemade Apple",
] as const;

const textStyle = {
  face: z.string().min(1).max(64).optional(),
  size: z.number().min(1).max(400).optional().meta({ description: "Points" }),
  color: Color.optional(),
  weight: z.enum(["normal", "bold"]).optional(),
  italic: z.boolean().optional(),
  underline: z.boolean().optional(),
  align: z.enum(["left", "center", "right", "justify"]).optional(),
  lineHeight: z.number().min(0.5).max(10).optional().meta({ description: "Multiple of the size" }),
  baseline: z
    .number()
    .min(0)
    .max(2000)
    .optional()
    .meta({ description: "Points from the top of the box to the baseline" }),
  padding: z.number().min(0).max(500).optional().meta({ description: "Points" }),
};
export const TextStyle = z.object(textStyle);
export type TextStyle = z.infer<typeof TextStyle>;

export const FieldInput = z
  .union([z.string().max(20_000), z.number(), z.boolean(), z.null()])
  .meta({ id: "FieldInput", description: "What a person or a prefill puts into a field" });
export type FieldInput = z.infer<typeof FieldInput>;

const fieldId = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, "A field id starts with a letter and has 1 to 64 of A-Z a-z 0-9 _ -")
  .meta({ example: "signature-1" });
export const roleName = z.string().min(1).max(64).meta({ pattern: textPatterns.key });

/** Checked where a draft is saved (texts.ts): what was saved before stays readable. */
const inLine = (max: number) => z.string().max(max).meta({ pattern: textPatterns.inLine });

const fieldCommon = {
  id: fieldId,
  role: roleName,
  label: inLine(200).optional(),
  required: z.boolean().optional().meta({ description: "Default true" }),
  tooltip: inLine(500).optional(),
  visibleWhen: z
    .strictObject({ field: fieldId, in: z.array(FieldInput).min(1).max(100) })
    .optional()
    .meta({ description: "Shown only while an earlier field of the same role has one of these values" }),
};

const Option = z.strictObject({ value: z.string().min(1).max(200), label: inLine(200).optional() });
const options = <T extends z.ZodType>(option: T) => z.array(option).min(1).max(100);
export const attachmentTypes = ["application/pdf", "image/png", "image/jpeg", "image/webp"] as const;
export const AttachmentType = z.enum(attachmentTypes).meta({ id: "AttachmentType" });
export type AttachmentType = z.infer<typeof AttachmentType>;

const readOnly = z.boolean().optional();
const format = z.string().min(1).max(64).optional().meta({
  description: "`long`, `medium`, `short`, `iso`, or a pattern of YYYY YY MMMM MMM MM M DD D",
});
const defaultText = z.string().max(4000).optional();
const lineOf = <T extends string>(type: T) => ({
  ...fieldCommon,
  type: z.literal(type),
  default: defaultText,
  readOnly,
  ...textStyle,
});
const plainOf = <T extends string>(type: T) => ({ ...fieldCommon, type: z.literal(type) });

/** Members of every field type; `Field` and the placed item are made of the same ones. */
const shapes = {
  signature: plainOf("signature"),
  initials: plainOf("initials"),
  date_signed: { ...plainOf("date_signed"), format },
  full_name: plainOf("full_name"),
  email: plainOf("email"),
  company: lineOf("company"),
  job_title: lineOf("job_title"),
  phone: lineOf("phone"),
  formula: {
    ...plainOf("formula"),
    expression: z.string().min(1).max(1000),
    decimals: z.int().min(0).max(10).optional(),
    ...textStyle,
  },
  image: plainOf("image"),
  text_input: {
    ...plainOf("text_input"),
    multiline: z.boolean().optional(),
    cells: z.int().min(2).max(50).optional().meta({ description: "Comb: one character a cell" }),
    minLength: z.int().min(0).max(4000).optional(),
    maxLength: z.int().min(1).max(4000).optional(),
    pattern: z
      .string()
      .min(1)
      .max(500)
      .optional()
      .meta({ description: "Regular expression that the whole value matches" }),
    patternMessage: inLine(300).optional(),
    placeholder: inLine(200).optional(),
    default: defaultText,
    readOnly,
    ...textStyle,
  },
  number: {
    ...plainOf("number"),
    min: z.number().optional(),
    max: z.number().optional(),
    decimals: z.int().min(0).max(10).optional(),
    default: z.number().optional(),
    readOnly,
    ...textStyle,
  },
  date: {
    ...plainOf("date"),
    min: Day.optional(),
    max: Day.optional(),
    default: Day.optional(),
    format,
    readOnly,
  },
  checkbox: { ...plainOf("checkbox"), default: z.boolean().optional(), readOnly },
  radio: {
    ...plainOf("radio"),
    options: options(Option.extend({ box: Box.optional() })),
    default: z.string().optional(),
    readOnly,
  },
  dropdown: { ...plainOf("dropdown"), options: options(Option), default: z.string().optional(), readOnly },
  attachment: {
    ...plainOf("attachment"),
    accept: z.array(AttachmentType).min(1).optional(),
    maxFiles: z.int().min(1).max(10).optional().meta({ description: "Default 1" }),
  },
};

/** One closed object a field type, each with the same further members: none, a box, or a size in the flow of text. */
function fieldsWith<E extends z.core.$ZodLooseShape>(extra: E) {
  return [
    z.strictObject({ ...shapes.signature, ...extra }),
    z.strictObject({ ...shapes.initials, ...extra }),
    z.strictObject({ ...shapes.date_signed, ...extra }),
    z.strictObject({ ...shapes.full_name, ...extra }),
    z.strictObject({ ...shapes.email, ...extra }),
    z.strictObject({ ...shapes.company, ...extra }),
    z.strictObject({ ...shapes.job_title, ...extra }),
    z.strictObject({ ...shapes.phone, ...extra }),
    z.strictObject({ ...shapes.formula, ...extra }),
    z.strictObject({ ...shapes.image, ...extra }),
    z.strictObject({ ...shapes.text_input, ...extra }),
    z.strictObject({ ...shapes.number, ...extra }),
    z.strictObject({ ...shapes.date, ...extra }),
    z.strictObject({ ...shapes.checkbox, ...extra }),
    z.strictObject({ ...shapes.radio, ...extra }),
    z.strictObject({ ...shapes.dropdown, ...extra }),
    z.strictObject({ ...shapes.attachment, ...extra }),
  ] as const;
}

export const Field = z.discriminatedUnion("type", fieldsWith({})).meta({ id: "Field" });
export type Field = z.infer<typeof Field>;

const staticId = z.string().min(1).max(64);
const pictureLimit = 256 * 1024;
const Picture = z
  .string()
  .max(Math.ceil(pictureLimit / 3) * 4 + 32, "A picture has at most 256 KB.")
  .regex(
    /^data:image\/(?:png|jpeg);base64,[A-Za-z0-9+/]+={0,2}$/,
    "Use a data URL of a PNG or JPEG picture: `data:image/png;base64,…`.",
  );

const staticShapes = {
  text: {
    id: staticId,
    type: z.literal("text"),
    text: z.string().max(20_000).meta({ description: "May hold {{variables}}" }),
    group: z.string().max(64).optional(),
    original: z.string().max(20_000).optional(),
    ...boxShape,
    ...textStyle,
  },
  whiteout: {
    id: staticId,
    type: z.literal("whiteout"),
    color: Color.optional(),
    group: z.string().max(64).optional(),
    ...boxShape,
  },
};
/** A picture that the template places. Its `type` is that of the field too: what carries `data` is static. */
const StaticImage = z.strictObject({ id: staticId, type: z.literal("image"), data: Picture, ...boxShape });
const TextItem = z.strictObject(staticShapes.text);
const WhiteoutItem = z.strictObject(staticShapes.whiteout);
export type StaticItem = z.infer<typeof TextItem> | z.infer<typeof WhiteoutItem> | z.infer<typeof StaticImage>;

const TypedItem = z.discriminatedUnion("type", [TextItem, WhiteoutItem, ...fieldsWith(boxShape)]);
/** `image` names two shapes, so the picture stands beside the union that the type discriminates. */
export const OverlayItem = z.union([TypedItem, StaticImage]).meta({ id: "OverlayItem" });
export type OverlayItem = z.infer<typeof OverlayItem>;
const side = z.number().positive().max(2000).optional();
/** A field in the flow of text: its place follows from the typesetting. */
export const FlowField = z.discriminatedUnion("type", fieldsWith({ width: side, height: side }));
/** A field where an overlay places it. */
export const PlacedField = z.discriminatedUnion("type", fieldsWith(boxShape)).meta({ id: "PlacedField" });
export type PlacedField = Field & Box;

export function isStatic(item: OverlayItem): item is StaticItem {
  return item.type === "text" || item.type === "whiteout" || (item.type === "image" && "data" in item);
}
export function isField(item: OverlayItem): item is Exclude<OverlayItem, StaticItem> {
  return !isStatic(item);
}

export const verifications = ["none", "email_otp", "sms_otp", "operator_delivered"] as const;
export const Verification = z.enum(verifications).meta({ id: "Verification" });
export type Verification = z.infer<typeof Verification>;
/** What this appliance can carry out. The others stand in the contract and in templates from elsewhere. */
export const availableVerifications: readonly Verification[] = ["email_otp", "operator_delivered", "none"];
export const RecipientKind = z.enum(["signer", "countersigner"]).meta({ id: "RecipientKind" });
export type RecipientKind = z.infer<typeof RecipientKind>;

export const Role = z
  .strictObject({
    name: roleName,
    label: inLine(200).nullable().default(null),
    kind: RecipientKind.default("signer"),
    order: z.int().min(1).max(100).default(1).meta({ description: "Equal order: at the same time" }),
    verification: Verification.default("email_otp"),
    countersigner: z
      .strictObject({ name: z.string().min(1).max(200).meta({ pattern: textPatterns.key }), email: Email })
      .nullable()
      .default(null)
      .meta({ description: "Required when `kind` is `countersigner`" }),
  })
  .meta({ id: "Role" });
export type Role = z.infer<typeof Role>;

/** The signers who have nowhere to put a signature or initials: nothing in the document would show that they signed. */
export function rolesWithoutSignature(version: {
  roles: readonly Role[];
  items: readonly { type: string; role?: string }[];
}): Role[] {
  const signing = version.items.filter(({ type }) => type === "signature" || type === "initials");
  return version.roles.filter(({ kind, name }) => kind === "signer" && !signing.some(({ role }) => role === name));
}
