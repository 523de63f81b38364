import { Tabs } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { type ReactNode, useCallback, useRef, useState } from "react";
import { z } from "zod";
import { getTemplateDocument } from "../../../../../server/features/templates/contract.ts";
import { callEndpoint } from "../../../../shared/api/client.ts";
import { translator } from "../../../../shared/i18n.ts";
import type { PageSize } from "../../../../shared/pdf/document.ts";
import { PdfPages } from "../../../../shared/pdf/PdfPages.tsx";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { Loading } from "../../../../shared/ui/kit/Loading.tsx";
import { FieldForm } from "./FieldForm.tsx";
import { FieldsPanel } from "./FieldsPanel.tsx";
import { addItem, changeItem, type Draft, duplicateItem, type Place, type Placeable, removeItem } from "./model.ts";
import { Placement } from "./Placement.tsx";
import { RolesPanel } from "./RolesPanel.tsx";
import { SettingsPanel } from "./SettingsPanel.tsx";
import { VariablesPanel } from "./VariablesPanel.tsx";
import { VersionsPanel } from "./VersionsPanel.tsx";
import { visiblePlace } from "./visible.ts";

const tabs = ["fields", "roles", "variables", "settings", "versions"] as const;
export const TemplateSearch = z.object({
  version: z.coerce.string().max(20).optional().catch(undefined),
  tab: z.enum(tabs).optional().catch(undefined),
});

type Props = {
  template: string;
  /** `draft` or a number. */
  version: string;
  draft: Draft;
  /** The file that the server shows for this version. */
  file: string;
  edit: (change: (draft: Draft) => Draft, kind?: string | null) => void;
  readOnly: boolean;
  selected: string | null;
  onSelect: (id: string | null) => void;
  /** Above both columns. */
  notices?: ReactNode;
};

/** Not yet known: the document says them. */
const unknown: readonly PageSize[] = [];

/** A version of a template: its pages with what lies on them, and beside them everything else it says. */
export function Workspace(props: Props) {
  const { template, version, draft, file, edit, readOnly, selected, onSelect } = props;
  const t = translator("templates");
  const navigate = useNavigate();
  const { tab = "fields" } = TemplateSearch.parse(useSearch({ strict: false }));
  const frame = useRef<HTMLDivElement>(null);
  const [pages, setPages] = useState<readonly PageSize[]>([]);
  const [armed, setArmed] = useState<Placeable | null>(null);
  const [fresh, setFresh] = useState<string | null>(null);
  const [chosenRole, setRole] = useState<string | null>(null);
  const [broken, setBroken] = useState<unknown>(null);
  const roles = draft.roles.map(({ name }) => name);
  const role = chosenRole !== null && roles.includes(chosenRole) ? chosenRole : (roles[0] ?? "");
  const item = draft.items.find(({ id }) => id === selected);

  const document = useQuery({
    queryKey: [getTemplateDocument.id, template, version, file],
    queryFn: ({ signal }) => callEndpoint(getTemplateDocument, { params: { id: template, version }, signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });

  const place = useCallback(
    (type: Placeable, at: Place) => {
      const page = pages.find((candidate) => candidate.page === at.page);
      const added = addItem(draft, type, { at, role, page, text: t("fields.sampleText") });
      edit(() => added.draft);
      setArmed(null);
      setFresh(added.id);
      onSelect(added.id);
    },
    [pages, draft, role, edit, onSelect, t],
  );
  const remove = useCallback(
    (id: string) => {
      edit((now) => removeItem(now, id));
      onSelect(null);
    },
    [edit, onSelect],
  );
  const overlay = useCallback(
    (page: number, scale: number) => (
      <Placement
        page={page}
        scale={scale}
        size={pages.find((candidate) => candidate.page === page)}
        items={draft.items}
        roles={draft.roles.map(({ name }) => name)}
        selected={selected}
        fresh={fresh}
        armed={armed !== null}
        readOnly={readOnly}
        rendered={version !== "draft"}
        onSelect={onSelect}
        onPlace={(at) => armed && place(armed, at)}
        onMove={(id, { x, y, width, height }, kind) =>
          edit((now) => changeItem(now, id, { x, y, width, height }), kind)
        }
        onRemove={remove}
      />
    ),
    [pages, draft, version, selected, fresh, armed, readOnly, onSelect, place, edit, remove],
  );

  const show = (id: string) => {
    onSelect(id);
    const box = frame.current?.querySelector(`[data-item="${CSS.escape(id)}"]`);
    box?.scrollIntoView({ block: "center", behavior: "auto" });
  };
  const arm = (type: Placeable | null) => {
    setArmed(type);
    // On a small screen the pages lie below what was pressed.
    const top = frame.current?.getBoundingClientRect().top ?? 0;
    if (type && top > window.innerHeight * 0.6) frame.current?.scrollIntoView({ block: "start" });
  };
  const size = item && pages.find(({ page }) => page === item.page);

  return (
    <>
      {props.notices}
      <div className="workspace" data-tab={tab} data-armed={armed ?? undefined}>
        <div className="workspace-panel">
          <Tabs
            value={tab}
            keepMounted={false}
            onChange={(next) => {
              const chosen = tabs.find((known) => known === next);
              void navigate({
                to: "/templates/$id",
                params: { id: template },
                search: (before) => ({ ...before, ...(chosen ? { tab: chosen } : {}) }),
                replace: true,
                resetScroll: false,
              });
            }}
          >
            <Tabs.List>
              {tabs.map((name) => (
                <Tabs.Tab key={name} value={name}>
                  {t(`tab.${name}`)}
                </Tabs.Tab>
              ))}
            </Tabs.List>
            <Tabs.Panel value="fields">
              <FieldsPanel
                draft={draft}
                readOnly={readOnly}
                role={role}
                onRole={setRole}
                armed={armed}
                onPick={(type, atOnce) => {
                  if (type && atOnce) place(type, visiblePlace(frame.current, pages, draft.items));
                  else arm(type);
                }}
                selected={selected}
                onSelect={show}
              />
              {item && (
                <FieldForm
                  key={item.id}
                  item={item}
                  draft={draft}
                  pages={pages}
                  readOnly={readOnly}
                  onChange={(patch, kind) => edit((now) => changeItem(now, item.id, patch), kind ?? null)}
                  onDuplicate={() => {
                    const copied = duplicateItem(draft, item.id, size);
                    if (!copied) return;
                    edit(() => copied.draft);
                    setFresh(copied.id);
                    onSelect(copied.id);
                  }}
                  onRemove={() => remove(item.id)}
                  onClose={() => onSelect(null)}
                />
              )}
            </Tabs.Panel>
            <Tabs.Panel value="roles">
              <RolesPanel draft={draft} edit={edit} readOnly={readOnly} />
            </Tabs.Panel>
            <Tabs.Panel value="variables">
              <VariablesPanel draft={draft} edit={edit} readOnly={readOnly} />
            </Tabs.Panel>
            <Tabs.Panel value="settings">
              <SettingsPanel draft={draft} edit={edit} readOnly={readOnly} />
            </Tabs.Panel>
            <Tabs.Panel value="versions">
              <VersionsPanel template={template} shown={version} />
            </Tabs.Panel>
          </Tabs>
        </div>
        <section className="workspace-pages" ref={frame} aria-label={t("pages")}>
          {pages.length === 0 && !document.isError && broken === null && <Loading rows={1} height={600} />}
          {(document.isError || broken !== null) && <Failure error={document.error ?? broken} />}
          {document.data && (
            <PdfPages
              bytes={document.data.bytes}
              pages={unknown}
              overlay={overlay}
              onPages={setPages}
              onFailure={setBroken}
            />
          )}
        </section>
      </div>
    </>
  );
}
