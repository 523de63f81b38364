import { Button } from "@mantine/core";
import { type FocusEvent, type KeyboardEvent, useEffect, useMemo, useRef, useState } from "react";
import { translator } from "../../../../../shared/i18n.ts";
import { useEditing } from "../editing.ts";
import { type Draft, removeItem } from "../model.ts";
import type { Colors } from "./colors.ts";
import { replaceLine, replacementOf } from "./replacing.ts";
import type { PageText, TextDocument } from "./text-document.ts";
import { lookOf, type TextLine } from "./text-lines.ts";

/** The lines of a page to click on while the document's own text is edited. */
export function EditableLines({ page, scale }: { page: number; scale: number }) {
  const { text: mode, draft } = useEditing();
  return mode.isOn && draft ? <Lines page={page} scale={scale} source={mode.document} draft={draft} /> : null;
}

type Props = { page: number; scale: number; source: TextDocument | null; draft: Draft };
const plain: Colors = { background: "#ffffff", ink: "#000000" };

function Lines({ page, scale, source, draft }: Props) {
  const t = translator("templates");
  const { edit } = useEditing();
  const layer = useRef<HTMLDivElement>(null);
  const text = usePageText(source, page, layer);
  const [open, setOpen] = useState<number | null>(null);
  const [said, setSaid] = useState("");
  const back = (index: number) => {
    // Another line may have been opened meanwhile.
    setOpen((now) => (now === index ? null : now));
    requestAnimationFrame(() => {
      if (document.activeElement !== document.body) return;
      layer.current?.querySelector<HTMLElement>(`[data-line="${index}"]`)?.focus();
    });
  };
  return (
    <div className="text-lines" ref={layer}>
      {text?.lines.map((line, index) => {
        const present = replacementOf(draft, page, line);
        const shown = present?.text ?? line.text;
        const place = {
          left: line.x * scale,
          top: (line.baseline - line.ascent) * scale,
          width: line.width * scale,
          height: (line.ascent + line.descent) * scale,
        };
        if (open === index) {
          return (
            <LineEditor
              // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a page never change
              key={index}
              line={line}
              scale={scale}
              page={page}
              source={source}
              font={text.fonts.get(line.font)}
              text={shown}
              original={present ? (present.original ?? line.text) : null}
              onCommit={(next, colors) => {
                edit((now) => replaceLine(now, page, line, next, { font: text.fonts.get(line.font), colors }));
                setSaid(next === shown ? "" : t("edit.done"));
                back(index);
              }}
              onRestore={() => {
                if (present) edit((now) => removeItem(now, present.id));
                back(index);
              }}
              onCancel={() => back(index)}
            />
          );
        }
        return (
          <button
            type="button"
            // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a page never change
            key={index}
            className="text-line"
            data-own-pointer=""
            data-line={index}
            data-changed={present !== undefined || undefined}
            style={place}
            aria-label={present ? t("edit.changed", { text: shown }) : t("edit.line", { text: shown })}
            onClick={() => setOpen(index)}
          />
        );
      })}
      <p className="text-lines-status" role="status">
        {text === null ? (
          t("edit.loading")
        ) : text.lines.length === 0 ? (
          t("edit.none")
        ) : (
          <span className="spoken">{said}</span>
        )}
      </p>
    </div>
  );
}

/** Read when the page comes near the window. */
function usePageText(
  source: TextDocument | null,
  page: number,
  layer: React.RefObject<HTMLElement | null>,
): PageText | null {
  const [text, setText] = useState<PageText | null>(null);
  useEffect(() => {
    const node = layer.current;
    if (!source || !node) return;
    let gone = false;
    const observer = new IntersectionObserver(
      (entries) => {
        if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
        observer.disconnect();
        source
          .read(page)
          .then((read) => {
            if (!gone) setText(read);
          })
          .catch((error: unknown) => {
            if (!gone) console.error(error);
          });
      },
      { rootMargin: "100% 0px" },
    );
    observer.observe(node);
    return () => {
      gone = true;
      observer.disconnect();
      setText(null);
    };
  }, [source, page, layer]);
  return text;
}

type EditorProps = {
  line: TextLine;
  page: number;
  scale: number;
  source: TextDocument | null;
  font: { name: string; family: string } | undefined;
  text: string;
  /** What stood there; null when the line was not replaced. */
  original: string | null;
  onCommit: (text: string, colors: Colors) => void;
  onRestore: () => void;
  onCancel: () => void;
};

function LineEditor({
  line,
  page,
  scale,
  source,
  font,
  text: first,
  original,
  onCommit,
  onRestore,
  onCancel,
}: EditorProps) {
  const t = translator("templates");
  const [text, setText] = useState(first);
  const [colors, setColors] = useState(plain);
  const ended = useRef(false);
  const input = useRef<HTMLInputElement>(null);
  const looked = useMemo(
    () => source?.colorsOf(page, line).catch(() => plain) ?? Promise.resolve(plain),
    [source, page, line],
  );
  useEffect(() => {
    input.current?.select();
    let gone = false;
    void looked.then((found) => {
      if (!gone) setColors(found);
    });
    return () => {
      gone = true;
    };
  }, [looked]);
  const end = (act: () => void) => {
    if (ended.current) return;
    ended.current = true;
    act();
  };
  const commit = () =>
    end(() => {
      const next = text.replace(/\s+/g, " ").trim();
      if (next === first) onCancel();
      else void looked.then((found) => onCommit(next, found));
    });
  const key = (event: KeyboardEvent) => {
    if (event.key === "Escape") end(onCancel);
    else if (event.key === "Enter") commit();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const leave = (event: FocusEvent<HTMLElement>) => {
    if (!event.currentTarget.contains(event.relatedTarget)) commit();
  };
  const { face, isBold, isItalic } = lookOf(font ?? { name: "", family: "" });
  const height = (line.ascent + line.descent) * scale;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only notices that the focus leaves the editor
    <div
      className="line-editor"
      data-own-pointer=""
      style={{ left: line.x * scale - 3, top: (line.baseline - line.ascent) * scale - 3 }}
      onBlur={leave}
    >
      <input
        ref={input}
        // biome-ignore lint/a11y/noAutofocus: the person has just asked for it
        autoFocus
        aria-label={t("edit.input")}
        value={text}
        maxLength={2000}
        dir={line.isRtl ? "rtl" : "ltr"}
        style={{
          minWidth: line.width * scale + 6,
          maxWidth: Math.max(line.room, line.width) * scale + 6,
          height: height + 6,
          fontSize: line.size * scale,
          fontFamily: face === "Noto Sans Mono" ? "monospace" : "sans-serif",
          fontWeight: isBold ? 700 : 400,
          fontStyle: isItalic ? "italic" : "normal",
          color: colors.ink,
          background: colors.background,
        }}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={key}
      />
      {original !== null && (
        <div className="line-original">
          <span>{t("edit.original", { text: original })}</span>
          <Button size="compact-sm" variant="default" onClick={() => end(onRestore)}>
            {t("edit.restore")}
          </Button>
        </div>
      )}
    </div>
  );
}
