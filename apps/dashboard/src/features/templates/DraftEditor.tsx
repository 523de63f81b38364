import { Button } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useCallback, useMemo, useRef, useState, useSyncExternalStore } from "react";
import {
  getTemplate,
  getTemplateVersion,
  listTemplates,
  listTemplateVersions,
  publishTemplate,
  rolesWithoutSignature,
  saveTemplateDraft,
  type Template,
  type TemplateVersion,
} from "../../../../../server/features/templates/contract.ts";
import { callEndpoint, NoAnswer } from "../../../../shared/api/client.ts";
import { translator } from "../../../../shared/i18n.ts";
import type { PageSize } from "../../../../shared/pdf/document.ts";
import { useConfirm } from "../../../../shared/ui/kit/Confirm.tsx";
import { notify } from "../../../../shared/ui/kit/notify.tsx";
import { useUnsaved } from "../../../../shared/ui/kit/useUnsaved.ts";
import { useCan } from "../../session.tsx";
import { DraftConflict } from "./DraftConflict.tsx";
import { DraftNotices } from "./DraftNotices.tsx";
import { createDraftStore } from "./draft-store.ts";
import { EditingProvider } from "./editing.ts";
import { problemsOf } from "./explain.ts";
import { type Draft, draftOf } from "./model.ts";
import { PreviewDialog } from "./PreviewDialog.tsx";
import { ProblemsMenu } from "./ProblemsMenu.tsx";
import { Proposals } from "./Proposals.tsx";
import { useProblemWords } from "./problem-text.ts";
import { ReplacePdf } from "./ReplacePdf.tsx";
import { TemplateHeader } from "./TemplateHeader.tsx";
import { useTextDocument } from "./text-edit/useTextDocument.ts";
import { useEditKeys } from "./useEditKeys.ts";
import { Workspace } from "./Workspace.tsx";

type Props = {
  template: Template;
  version: TemplateVersion;
  draft: Draft;
  /** Shows what the server has, after somebody else changed it. */
  onReload: () => void;
};

/** The draft being edited: every change is kept a moment later, and publishing makes it a version. */
export function DraftEditor({ template, version, draft: first, onReload }: Props) {
  const t = translator("templates");
  const { id } = template;
  const queries = useQueryClient();
  const navigate = useNavigate();
  const confirm = useConfirm();
  const canPublish = useCan("template:publish");
  const canWrite = useCan("template:write");
  const [dialog, setDialog] = useState<"preview" | "file" | null>(null);
  const [selected, setSelected] = useState<readonly string[]>([]);
  const [refused, setRefused] = useState<{ error: unknown; draft: Draft } | null>(null);
  const [publishing, setPublishing] = useState(false);
  const repeated = useRef<string | null>(null);

  const keptName = useRef(first.name);

  const [store] = useState(() =>
    createDraftStore({
      draft: first,
      contentHash: version.contentHash,
      async send({ name, ...body }, ifMatch) {
        // The name is the template's: who did not change it does not undo somebody else's renaming.
        const renamed = name === keptName.current || name === undefined ? {} : { name };
        const saved = await callEndpoint(saveTemplateDraft, {
          params: { id },
          body: { ...body, ...renamed },
          ...(ifMatch === null ? {} : { ifMatch }),
        });
        keptName.current = name ?? keptName.current;
        queries.setQueryData([getTemplateVersion.id, { params: { id, version: "draft" } }], saved);
        void queries.invalidateQueries({ queryKey: [listTemplates.id] });
        void queries.invalidateQueries({ queryKey: [getTemplate.id] });
        void queries.invalidateQueries({ queryKey: [listTemplateVersions.id] });
        return saved;
      },
    }),
  );
  const { draft, status, error, canUndo, canRedo, savedFile } = useSyncExternalStore(store.subscribe, store.snapshot);
  // Whoever goes elsewhere leaves nothing behind: what is still waiting is saved on the way, and only a failure is asked about.
  useUnsaved(status !== "saved", {
    save: store.save,
    leaves: (current, next) => current.version !== next.version,
  });
  useEditKeys(store);
  const edit = useCallback<typeof store.edit>((change, kind = null) => store.edit(change, kind), [store]);
  const [pages, setPages] = useState<readonly PageSize[]>([]);
  useProblemWords();
  const noPicture = t("props.picture.missing");
  const problems = useMemo(() => problemsOf(draft, pages, { noPicture }), [draft, pages, noPicture]);
  const [isTextOn, setTextOn] = useState(false);
  const textDocument = useTextDocument(id, savedFile, isTextOn);
  const editing = useMemo(
    () => ({
      template: id,
      draft,
      text: { isOn: isTextOn, document: textDocument },
      problems,
      onPages: setPages,
      edit,
      saved: status === "saved",
    }),
    [id, draft, isTextOn, textDocument, problems, edit, status],
  );

  const publish = async () => {
    setRefused(null);
    const without = rolesWithoutSignature(draft);
    const agreed =
      without.length === 0 ||
      (await confirm({
        title: t("publish.unsignedTitle"),
        text: t("publish.unsigned", { roles: without.map(({ name }) => name).join(", "), count: without.length }),
        confirm: t("publish.anyway"),
      }));
    if (!agreed) return;
    setPublishing(true);
    try {
      if (!(await store.save())) return;
      repeated.current ??= crypto.randomUUID();
      const made = await callEndpoint(publishTemplate, { params: { id }, idempotencyKey: repeated.current });
      repeated.current = null;
      notify({ message: t("publish.done", { version: made.version ?? "" }), tone: "good" });
      queries.removeQueries({ queryKey: [getTemplateVersion.id, { params: { id, version: "draft" } }] });
      await navigate({
        to: "/templates/$id",
        params: { id },
        search: { version: String(made.version) },
        replace: true,
      });
      await Promise.all(
        [getTemplate.id, listTemplates.id, listTemplateVersions.id].map((endpoint) =>
          queries.invalidateQueries({ queryKey: [endpoint] }),
        ),
      );
    } catch (reason) {
      // Only what may have happened without an answer is asked for again under the same key.
      if (!(reason instanceof NoAnswer)) repeated.current = null;
      setRefused({ error: reason, draft: store.snapshot().draft });
    } finally {
      setPublishing(false);
    }
  };

  const reset = async () => {
    const { latestVersion } = template;
    if (latestVersion === null) return;
    const agreed = await confirm({
      title: t("reset.title", { version: latestVersion }),
      text: t("reset.text"),
      confirm: t("reset.confirm"),
      danger: true,
    });
    if (!agreed) return;
    const published = await callEndpoint(getTemplateVersion, { params: { id, version: String(latestVersion) } });
    const back = draftOf(draft.name, published);
    if (back) edit(() => back);
    setSelected([]);
  };

  return (
    <EditingProvider value={editing}>
      <TemplateHeader
        template={template}
        name={draft.name}
        description={
          <span className="draft-line">
            {template.latestVersion === null ? t("draft.first") : t("draft.after", { version: template.latestVersion })}
          </span>
        }
        primary={
          canPublish && (
            <Button onClick={() => void publish()} loading={publishing}>
              {t("publish.open")}
            </Button>
          )
        }
        entries={[
          {
            label: t("preview.open"),
            onClick: () => void store.save().then((kept) => kept && setDialog("preview")),
          },
          ...(canWrite ? [{ label: t("replace.open"), onClick: () => setDialog("file") }] : []),
          ...(canWrite && template.latestVersion !== null
            ? [{ label: t("reset.open", { version: template.latestVersion }), onClick: () => void reset() }]
            : []),
        ]}
      />
      <Workspace
        template={id}
        version="draft"
        draft={draft}
        file={savedFile}
        edit={edit}
        readOnly={!canWrite}
        selected={selected}
        onSelect={setSelected}
        notices={
          <>
            <div className="draft-bar">
              <Button size="compact-sm" variant="default" disabled={!canUndo} onClick={store.undo}>
                {t("draft.undo")}
              </Button>
              <Button size="compact-sm" variant="default" disabled={!canRedo} onClick={store.redo}>
                {t("draft.redo")}
              </Button>
              {canWrite && (
                <Button
                  size="compact-sm"
                  variant={isTextOn ? "filled" : "default"}
                  aria-pressed={isTextOn}
                  onClick={() => {
                    // On a small screen its details would lie over the page.
                    setSelected([]);
                    setTextOn(!isTextOn);
                  }}
                >
                  {t("edit.mode")}
                </Button>
              )}
              <span className="save-state" data-status={status} role="status">
                {t(`draft.status.${status}`)}
              </span>
              <ProblemsMenu onSelect={(chosen) => setSelected([chosen])} />
            </div>
            {isTextOn && <p className="hint">{t("edit.hint")}</p>}
            {canWrite && <Proposals template={id} draft={draft} edit={edit} />}
            <DraftNotices
              status={status}
              error={error}
              refused={refused}
              draft={draft}
              warnings={version.warnings}
              onRetry={() => void store.save()}
              onSelect={(chosen) => setSelected([chosen])}
            />
          </>
        }
      />
      <DraftConflict opened={status === "conflict"} onReload={onReload} onOverwrite={() => void store.overwrite()} />
      {dialog === "preview" && (
        <PreviewDialog template={id} version="draft" variables={draft.variables} onClose={() => setDialog(null)} />
      )}
      {dialog === "file" && (
        <ReplacePdf
          template={id}
          title={t("replace.title")}
          text={t("replace.text")}
          onClose={() => setDialog(null)}
          onUploaded={(file) => {
            setDialog(null);
            edit((now) => ({ ...now, file: file.id }));
            void store.save();
          }}
        />
      )}
    </EditingProvider>
  );
}
