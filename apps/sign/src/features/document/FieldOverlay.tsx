import type { CSSProperties, KeyboardEvent, ReactNode } from "react";
import { textStyleOf } from "../../../../../server/features/templates/text-fit.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Clip, Pen, Picture } from "../../../../shared/ui/icons.tsx";
import { SignaturePicture } from "../../../../shared/ui/signature/SignaturePicture.tsx";
import { describedBy, shownText } from "./describe.ts";
import { FieldInputControl } from "./FieldInputControl.tsx";
import { FittedText } from "./FittedText.tsx";
import { drawnText, isAutomatic, isFilled, isRequired, isSignature, isUpload, type Mine } from "./fields.ts";
import { problemOf, useFilling } from "./store.ts";

type BoxOf = Mine["boxes"][number];

/** Below this height in CSS pixels nobody can type into a field: it is filled in at the foot of the window instead. */
const legible = 17;

/** Whether the field is filled in at the foot of the window. */
export function isDocked(field: Mine, scale: number, narrow: boolean): boolean {
  if (isUpload(field)) return true;
  if (isAutomatic(field) || isSignature(field) || field.type === "checkbox") return false;
  if (field.type === "radio") return !field.options.every((option) => option.box);
  return narrow || (field.boxes[0]?.height ?? 0) * scale < legible;
}

function placed(box: BoxOf, scale: number): CSSProperties {
  return { left: box.x * scale, top: box.y * scale, width: box.width * scale, height: box.height * scale };
}

/** Everything of one page that the signer fills in or that is filled in for them, where the document has it. */
export function FieldOverlay({ page, scale, narrow }: { page: number; scale: number; narrow: boolean }) {
  const onPage = useFilling().onPage.get(page) ?? [];
  return onPage.flatMap((field) =>
    boxesOn(field, page).map(({ key, box, option }) => (
      <FieldBox key={key} field={field} box={box} option={option} scale={scale} narrow={narrow} />
    )),
  );
}

type Placed = { key: string; box: BoxOf; option: string | null };

function boxesOn(field: Mine, page: number): Placed[] {
  if (field.type === "radio" && field.options.every((option) => option.box)) {
    return field.options.flatMap(({ value, box }) =>
      box?.page === page ? [{ key: `${field.id} ${value}`, box, option: value }] : [],
    );
  }
  return field.boxes.flatMap((box, index) =>
    box.page === page ? [{ key: `${field.id} ${index}`, box, option: null }] : [],
  );
}

type BoxProps = { field: Mine; box: BoxOf; option: string | null; scale: number; narrow: boolean };

function FieldBox({ field, box, option, scale, narrow }: BoxProps) {
  const filling = useFilling();
  const state = stateOf(field, filling);
  const { size = Math.min(11, box.height * 0.72) } = textStyleOf(field);
  const style = { ...placed(box, scale), "--field-size": `${size * scale}px` } as CSSProperties;
  const advanceOnEnter = (event: KeyboardEvent) => {
    if (event.key === "Escape") {
      filling.goTo(null);
      if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
    }
    if (event.key !== "Enter" || !(event.target instanceof HTMLInputElement)) return;
    event.preventDefault();
    filling.advance();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: hears the keys of the control inside
    <div className="field" data-state={state} data-type={field.type} style={style} onKeyDown={advanceOnEnter}>
      <Inside field={field} box={box} option={option} scale={scale} narrow={narrow} />
      {filling.current === field.id && !isAutomatic(field) && option === firstOption(field) && (
        <span className="field-flag" aria-hidden="true" />
      )}
    </div>
  );
}

function firstOption(field: Mine): string | null {
  return field.type === "radio" && field.options[0]?.box ? field.options[0].value : null;
}

function stateOf(field: Mine, filling: ReturnType<typeof useFilling>): string {
  if (isAutomatic(field)) return "automatic";
  if (problemOf(filling, field) || filling.uploads.failures.has(field.id)) return "problem";
  if (isFilled(field, filling.answers, filling.fits)) return "filled";
  return isRequired(field) ? "open" : "optional";
}

function Inside({ field, option, box, scale, narrow }: BoxProps) {
  const filling = useFilling();
  if (isAutomatic(field)) {
    if (drawnText(field, filling.view, filling.answers) === null) {
      return <span className="field-text">{shownText(field, filling)}</span>;
    }
    return (
      <>
        <span className="spoken">{shownText(field, filling)}</span>
        <FittedText field={field} box={box} scale={scale} />
      </>
    );
  }
  if (isSignature(field)) return <SignatureField field={field} box={box} scale={scale} />;
  if (isDocked(field, scale, narrow)) return <DockedField field={field} box={box} scale={scale} />;
  return (
    <>
      <FieldInputControl
        field={field}
        option={option}
        cellWidth={field.type === "text_input" && field.cells ? (box.width * scale) / field.cells : null}
        {...describedBy(field, filling)}
      />
      <FittedText field={field} box={box} scale={scale} />
    </>
  );
}

function SignatureField({ field, box, scale }: { field: Mine; box: BoxOf; scale: number }) {
  const t = translator("sign");
  const filling = useFilling();
  const { answers } = filling;
  const signature = field.type === "initials" ? answers.initials : answers.signature;
  const done = isFilled(field, answers, filling.fits) && signature;
  const { "aria-label": label, "aria-description": description, title } = describedBy(field, filling);
  const spoken = signature?.method === "type" ? `${label} ${signature.text}` : label;
  const prompt = t(field.type === "initials" ? "field.initial" : "field.sign");
  return (
    <button
      type="button"
      className="field-button"
      data-field={field.id}
      title={title}
      aria-description={description}
      aria-label={done ? t("field.change", { label: spoken }) : `${prompt}: ${label}`}
      onClick={() => filling.sign(field)}
      onFocus={() => filling.goTo(field.id)}
    >
      {done ? (
        <SignaturePicture signature={signature} width={box.width * scale} height={box.height * scale} />
      ) : (
        <Prompt icon={<Pen size={16} />}>{prompt}</Prompt>
      )}
    </button>
  );
}

function DockedField({ field, box, scale }: { field: Mine; box: BoxOf; scale: number }) {
  const filling = useFilling();
  const text = shownText(field, filling);
  const { "aria-label": label } = describedBy(field, filling);
  const icon = field.type === "attachment" ? <Clip size={16} /> : field.type === "image" ? <Picture size={16} /> : null;
  return (
    <button
      type="button"
      className="field-button"
      data-field={field.id}
      aria-label={text ? `${label}: ${text}` : label}
      onClick={() => filling.goTo(field.id)}
    >
      {text && drawnText(field, filling.view, filling.answers) !== null ? (
        <FittedText field={field} box={box} scale={scale} />
      ) : text ? (
        <span className="field-text">{text}</span>
      ) : (
        <Prompt icon={icon}>{field.label ?? label}</Prompt>
      )}
    </button>
  );
}

function Prompt({ icon, children }: { icon: ReactNode; children: ReactNode }) {
  return (
    <span className="field-prompt">
      {icon}
      <span>{children}</span>
    </span>
  );
}
