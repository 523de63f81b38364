import { useMemo, useState } from "react";
import { getTemplateDocument } from "../../../../../../server/features/templates/contract.ts";
import { callEndpoint, ProblemResponse } from "../../../../../shared/api/client.ts";
import { translator } from "../../../../../shared/i18n.ts";
import type { PageSize } from "../../../../../shared/pdf/document.ts";
import { RoleNamesProvider } from "../../canvas/role-names.ts";
import { EditingProvider } from "../../templates/editing.ts";
import { problemsOf } from "../../templates/explain.ts";
import { PageEditor } from "../../templates/PageEditor.tsx";
import { ProblemsMenu } from "../../templates/ProblemsMenu.tsx";
import { Proposals } from "../../templates/Proposals.tsx";
import { useProblemWords } from "../../templates/problem-text.ts";
import { useEditKeys } from "../../templates/useEditKeys.ts";
import type { DocumentDraft } from "./useDocumentDraft.ts";
import "../../templates/templates.css";

type Props = { template: string; kept: DocumentDraft };

/** The pages of the document, with the fields of its people on them. */
export function FieldsPart({ template, kept }: Props) {
  const { store, draft, status } = kept;
  const t = translator("templates");
  const [selected, setSelected] = useState<readonly string[]>([]);
  const [pages, setPages] = useState<readonly PageSize[]>([]);
  useEditKeys(store);
  useProblemWords();
  const noPicture = t("props.picture.missing");
  const problems = useMemo(() => problemsOf(draft, pages, { noPicture }), [draft, pages, noPicture]);
  const editing = useMemo(
    () => ({
      template,
      draft,
      text: { isOn: false, document: null },
      problems,
      onPages: setPages,
      edit: store.edit,
      saved: status === "saved",
    }),
    [template, draft, problems, store, status],
  );
  const { roles } = draft;
  const names = useMemo(() => new Map(roles.map(({ name, label }) => [name, label ?? name])), [roles]);
  return (
    <EditingProvider value={editing}>
      <RoleNamesProvider value={names}>
        <div className="draft-bar">
          <span className="save-state" data-status={status} role="status">
            {t(`draft.status.${status}`)}
          </span>
          <ProblemsMenu onSelect={(id) => setSelected([id])} />
        </div>
        <Proposals template={template} draft={draft} edit={store.edit} ownRoles />
        <PageEditor
          document={{ key: [getTemplateDocument.id, template, draft.file], load: (signal) => load(template, signal) }}
          draft={draft}
          edit={store.edit}
          readOnly={false}
          rendered={false}
          selected={selected}
          onSelect={setSelected}
          panel={(fields) => fields}
        />
      </RoleNamesProvider>
    </EditingProvider>
  );
}

/** The PDF, of the draft or, where that was published, of the version. */
async function load(id: string, signal: AbortSignal) {
  try {
    return await callEndpoint(getTemplateDocument, { params: { id, version: "draft" }, signal });
  } catch (reason) {
    if (!(reason instanceof ProblemResponse && reason.problem.status === 404)) throw reason;
    return await callEndpoint(getTemplateDocument, { params: { id, version: "latest" }, signal });
  }
}
