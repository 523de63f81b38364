import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { isField, templateLimits } from "../../../../../server/features/templates/contract.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { Loading } from "../../../../shared/ui/kit/Loading.tsx";
import { Canvas, type CanvasHandle } from "../canvas/Canvas.tsx";
import { usePages } from "../canvas/usePages.ts";
import { type Edit, useEditing } from "./editing.ts";
import { FieldForm } from "./FieldForm.tsx";
import { FieldsPanel } from "./FieldsPanel.tsx";
import { addItem, changeItem, type Draft, type Placeable, placeable, withItems } from "./model.ts";
import { OptionBoxes } from "./properties/OptionBoxes.tsx";
import { EditableLines } from "./text-edit/EditableLines.tsx";

type Props = {
  /** The PDF that everything lies on. */
  document: { key: readonly unknown[]; load: (signal: AbortSignal) => Promise<{ bytes: Uint8Array }> };
  draft: Draft;
  edit: Edit;
  readOnly: boolean;
  /** The document shows its fixed items already. */
  rendered: boolean;
  selected: readonly string[];
  onSelect: (ids: readonly string[]) => void;
  /** What is shown beside the pages. @param fields what can be placed, what was, and the properties of what is chosen */
  panel: (fields: ReactNode) => ReactNode;
  /** Which part of the panel is shown, for the look of the page. */
  tab?: string;
};

/** The pages of a document with what is placed on them, and beside them what can be done to it. */
export function PageEditor(props: Props) {
  const { draft, edit, readOnly, selected, onSelect } = props;
  const t = translator("templates");
  const frame = useRef<HTMLDivElement>(null);
  const canvas = useRef<CanvasHandle>(null);
  const [armed, setArmed] = useState<Placeable | null>(null);
  const [chosenRole, setRole] = useState<string | null>(null);
  const { onPages, problems } = useEditing();
  // The same list as before while the roles are the same: nothing of the pages is drawn anew.
  const roles = useMemo(() => draft.roles.map(({ name }) => name), [draft.roles]);
  const role = chosenRole !== null && roles.includes(chosenRole) ? chosenRole : (roles[0] ?? "");
  const [only] = selected;
  const item = selected.length === 1 ? draft.items.find(({ id }) => id === only) : undefined;

  const document = useQuery({
    queryKey: props.document.key,
    queryFn: ({ signal }) => props.document.load(signal),
    staleTime: Number.POSITIVE_INFINITY,
    // As long as somebody works on it, also on another part of the page.
    gcTime: 3_600_000,
  });
  const pages = usePages(document.data?.bytes ?? null);
  const { sizes } = pages;
  useEffect(() => onPages(sizes), [onPages, sizes]);
  const broken = document.error ?? pages.failure;
  const wrong = useMemo(
    () => new Set(problems.flatMap(({ place }) => (place.kind === "item" ? [place.item.id] : []))),
    [problems],
  );

  const arm = (type: Placeable | null) => {
    setArmed(type);
    // On a small screen the pages lie below what was pressed.
    const top = frame.current?.getBoundingClientRect().top ?? 0;
    if (type && top > window.innerHeight * 0.6) frame.current?.scrollIntoView({ block: "start" });
  };
  const showItem = useCallback((id: string) => onSelect([id]), [onSelect]);
  const { items } = draft;
  const choices = useMemo(() => items.filter((one) => one.type === "radio"), [items]);
  const layer = useCallback(
    (page: number, scale: number) => (
      <>
        {choices.map((choice) => (
          <OptionBoxes
            key={choice.id}
            item={choice}
            page={page}
            scale={scale}
            size={sizes[page - 1]}
            active={only === choice.id && !readOnly}
          />
        ))}
        <EditableLines page={page} scale={scale} />
      </>
    ),
    [choices, sizes, only, readOnly],
  );

  const fields = (
    <>
      <FieldsPanel
        items={items}
        roles={roles}
        readOnly={readOnly}
        role={role}
        onRole={setRole}
        armed={armed}
        onPick={(type, atOnce) => {
          if (type && atOnce) canvas.current?.place(type);
          else arm(type);
        }}
        selected={selected}
        onSelect={showItem}
      />
      {item && (
        <FieldForm
          key={item.id}
          item={item}
          draft={draft}
          pages={sizes}
          readOnly={readOnly}
          onChange={(patch, kind) => edit((now) => changeItem(now, item.id, patch), kind ?? null)}
          onDuplicate={() => canvas.current?.duplicate()}
          onRemove={() => canvas.current?.remove()}
          onClose={() => onSelect([])}
        />
      )}
    </>
  );
  return (
    <div className="workspace" data-tab={props.tab} data-armed={armed ?? undefined}>
      <div className="workspace-panel">{props.panel(fields)}</div>
      <section className="workspace-pages" ref={frame} aria-label={t("pages")}>
        {broken !== null && <Failure error={broken} />}
        {sizes.length === 0 && broken === null && <Loading rows={1} height={600} />}
        {sizes.length > 0 && (
          <Canvas
            ref={canvas}
            pages={pages}
            items={items}
            roles={roles}
            role={role}
            onRole={setRole}
            selected={selected}
            onSelect={onSelect}
            armed={armed}
            onDisarm={() => setArmed(null)}
            readOnly={readOnly}
            rendered={props.rendered}
            wrong={wrong}
            layer={layer}
            onChange={(changed, kind) => edit((now) => withItems(now, changed), kind)}
            onPlace={(type, { size, ...at }) => {
              const known = placeable.find((one) => one === type);
              const count = items.filter(isField).length;
              if (!known || items.length >= templateLimits.items || count >= templateLimits.fields) return null;
              const text = t("fields.sampleText");
              const added = addItem(draft, known, {
                at,
                role,
                page: sizes[at.page - 1],
                text,
                ...(size ? { size } : {}),
              });
              edit(() => added.draft);
              setArmed(null);
              return added.id;
            }}
          />
        )}
      </section>
    </div>
  );
}
