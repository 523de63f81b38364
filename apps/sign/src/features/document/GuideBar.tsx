import { Button, Progress } from "@mantine/core";
import { useEffect, useRef } from "react";
import { fieldTextSize, textStyleOf } from "../../../../../server/features/templates/text-fit.ts";
import { pageLanguage, translator } from "../../../../shared/i18n.ts";
import { describedBy, nameOf } from "./describe.ts";
import { FieldInputControl } from "./FieldInputControl.tsx";
import { asked, type Fit, isAutomatic, isFilled, isRequired, isUpload, type Mine, overfull } from "./fields.ts";
import { problemOf, useFilling } from "./store.ts";
import { UploadControl } from "./UploadControl.tsx";
import { useKeyboardHeight } from "./window.ts";

type Props = {
  /** The current field is filled in here rather than on the page. */
  docked: boolean;
  onFinish: () => void;
};

/** Leads from field to field, says how far the signer is, and holds the control of a field too small to type into. */
export function GuideBar({ docked, onFinish }: Props) {
  const t = translator("sign");
  useKeyboardHeight();
  const filling = useFilling();
  const { answers, fields, fits, current } = filling;
  const required = asked(fields).filter(isRequired);
  const done = required.filter((field) => isFilled(field, answers, fits)).length;
  const field = fields.find((candidate) => candidate.id === current && !isAutomatic(candidate));
  const complete = done === required.length && !fields.some((one) => overfull(one, answers, fits));
  // What is on its way belongs to what is signed.
  const sending = filling.uploads.sending.size > 0;
  const problem = field && problemOf(filling, field);
  const smaller = field && shrunk(field, fits);
  return (
    <section className="guide" aria-label={t("guide.label")}>
      <div className="guide-inner">
        {field && (
          <div className="guide-field">
            {docked ? (
              <DockedControl key={field.id} field={field} />
            ) : (
              <p className="guide-name">
                <b>{nameOf(field)}</b> {!isRequired(field) && <span className="soft">{t("guide.optional")}</span>}
              </p>
            )}
            {field.tooltip && <p className="fine">{field.tooltip}</p>}
            {problem ? (
              <p className="bad" role="alert">
                {problem}
              </p>
            ) : (
              smaller && (
                <p className="fine">
                  {t("field.small", { size: new Intl.NumberFormat(pageLanguage()).format(smaller) })}
                </p>
              )
            )}
          </div>
        )}
        <div className="guide-row">
          <div className="guide-progress">
            <span id="guide-progress">
              {complete && sending
                ? t("guide.sending")
                : required.length === 0
                  ? t("guide.nothing")
                  : complete
                    ? t("guide.complete")
                    : t("guide.progress", { done, total: required.length })}
            </span>
            <Progress.Root size="sm">
              <Progress.Section
                value={required.length === 0 ? 100 : (done / required.length) * 100}
                aria-labelledby="guide-progress"
              />
            </Progress.Root>
          </div>
          {complete ? (
            <>
              {field && docked && (
                <Button variant="default" onClick={() => filling.goTo(null)}>
                  {t("guide.ok")}
                </Button>
              )}
              <Button size="md" data-finish loading={sending} onClick={onFinish}>
                {t("guide.finish")}
              </Button>
            </>
          ) : (
            <Button size="md" onClick={() => filling.advance()}>
              {current === null && done === 0 ? t("guide.start") : t("guide.next")}
            </Button>
          )}
        </div>
        <Announcement field={field} done={done} total={required.length} />
      </div>
    </section>
  );
}

/** Points that a text is set in when its own size is too large for it; null when it is not. */
function shrunk(field: Mine, fits: ReadonlyMap<string, Fit>): number | null {
  const fit = fits.get(field.id);
  const [box] = field.boxes;
  if (fit === undefined || box === undefined) return null;
  const { size } = textStyleOf(field);
  return fit.size < Math.min(fieldTextSize({ size, height: box.height }), box.height * 0.9) ? fit.size : null;
}

function DockedControl({ field }: { field: Mine }) {
  const t = translator("sign");
  const filling = useFilling();
  const area = useRef<HTMLDivElement>(null);
  const id = `dock-${field.id}`;
  useEffect(() => {
    area.current?.querySelector<HTMLElement>("input, select, textarea, button")?.focus({ preventScroll: true });
  }, []);
  const { title: _, ...aria } = describedBy(field, filling);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: hears the keys of the control inside
    <div
      className="dock"
      ref={area}
      onKeyDown={(event) => {
        if (event.key === "Escape") {
          filling.goTo(null);
          document.querySelector<HTMLElement>(`.field [data-field="${CSS.escape(field.id)}"]`)?.focus();
        }
        if (event.key === "Enter" && event.target instanceof HTMLInputElement) {
          event.preventDefault();
          filling.advance();
        }
      }}
    >
      <p className="guide-name" id={`${id}-name`}>
        <b>{nameOf(field)}</b> {!isRequired(field) && <span className="soft">{t("guide.optional")}</span>}
      </p>
      {isUpload(field) ? <UploadControl field={field} /> : <FieldInputControl field={field} id={id} {...aria} />}
    </div>
  );
}

/** Says to a screen reader which field is current; empty while none is. */
function Announcement({ field, done, total }: { field: Mine | undefined; done: number; total: number }) {
  const t = translator("sign");
  return (
    <p className="spoken" aria-live="polite">
      {field
        ? `${nameOf(field)}. ${t(isRequired(field) ? "guide.required" : "guide.optional")} ${t("guide.progress", { done, total })}`
        : ""}
    </p>
  );
}
