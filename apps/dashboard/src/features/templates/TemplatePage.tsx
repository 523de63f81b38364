import { Button } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import {
  getTemplate,
  getTemplateVersion,
  listTemplates,
  listTemplateVersions,
  Role,
  saveTemplateDraft,
  type Template,
  type TemplateFile,
  type TemplateVersion,
} from "../../../../../server/features/templates/contract.ts";
import { callEndpoint } from "../../../../shared/api/client.ts";
import { useEndpoint } from "../../../../shared/api/queries.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { Pages } from "../../../../shared/ui/icons.tsx";
import { Empty } from "../../../../shared/ui/kit/Empty.tsx";
import { Loading } from "../../../../shared/ui/kit/Loading.tsx";
import { PageHeader } from "../../../../shared/ui/kit/PageHeader.tsx";
import { When } from "../../../../shared/ui/kit/When.tsx";
import { useCan } from "../../session.tsx";
import { DraftEditor } from "./DraftEditor.tsx";
import { type Draft, draftOf, savedBody } from "./model.ts";
import { PreviewDialog } from "./PreviewDialog.tsx";
import { ReplacePdf } from "./ReplacePdf.tsx";
import { TemplateHeader } from "./TemplateHeader.tsx";
import { Warnings } from "./Warnings.tsx";
import { TemplateSearch, Workspace } from "./Workspace.tsx";
import "./templates.css";

/** One template: its draft to edit, or a published version to look at. */
export function TemplatePage() {
  const t = translator("templates");
  const { id = "" } = useParams({ strict: false });
  const { version } = TemplateSearch.parse(useSearch({ strict: false }));
  const template = useEndpoint(getTemplate, { params: { id } });
  if (!template.data) {
    return (
      <div className="templates">
        <PageHeader title={t("template")} back={{ to: "/templates", label: t("list.title") }} />
        {template.isError ? <Failure error={template.error} /> : <Loading rows={6} />}
      </div>
    );
  }
  const { hasDraft, latestVersion } = template.data;
  const shown = version ?? (hasDraft ? "draft" : latestVersion === null ? null : String(latestVersion));
  return (
    <div className="templates template-page">
      {shown === null ? (
        <WithoutFile template={template.data} />
      ) : (
        <Version key={`${id} ${shown}`} template={template.data} shown={shown} />
      )}
    </div>
  );
}

/** A template whose first upload did not come to an end. */
function WithoutFile({ template }: { template: Template }) {
  const t = translator("templates");
  const renew = useRenew(template.id);
  const canWrite = useCan("template:write");
  const [uploading, setUploading] = useState(false);
  const begin = async (file: TemplateFile) => {
    await callEndpoint(saveTemplateDraft, {
      params: { id: template.id },
      body: {
        content: { mode: "overlay", file: file.id, items: [] },
        roles: [Role.parse({ name: t("roles.first") })],
        variables: [],
      },
    });
    await renew();
  };
  return (
    <>
      <TemplateHeader template={template} />
      {template.mode === "document" ? (
        <Empty icon={<Pages size={32} />} title={t("document.title")} text={t("document.text")} />
      ) : (
        <Empty
          icon={<Pages size={32} />}
          title={t("noFile.title")}
          text={t("noFile.text")}
          action={canWrite && <Button onClick={() => setUploading(true)}>{t("noFile.upload")}</Button>}
        />
      )}
      {uploading && (
        <ReplacePdf
          template={template.id}
          title={t("noFile.upload")}
          text={t("noFile.text")}
          onClose={() => setUploading(false)}
          onUploaded={(file) => void begin(file)}
        />
      )}
    </>
  );
}

function Version({ template: known, shown }: { template: Template; shown: string }) {
  const t = translator("templates");
  const queries = useQueryClient();
  const [loads, setLoads] = useState(0);
  // Read here too: after a reload the editor begins with the present name, not with the one that its parent last saw.
  const template = useEndpoint(getTemplate, { params: { id: known.id } }).data ?? known;
  const version = useEndpoint(getTemplateVersion, { params: { id: known.id, version: shown } });
  if (!version.data) {
    return (
      <>
        <TemplateHeader template={template} />
        {version.isError ? <Failure error={version.error} /> : <Loading rows={8} />}
      </>
    );
  }
  const draft = draftOf(template.name, version.data);
  if (!draft) {
    return (
      <>
        <TemplateHeader template={template} />
        <Empty icon={<Pages size={32} />} title={t("document.title")} text={t("document.text")} />
      </>
    );
  }
  if (version.data.status === "draft") {
    // The name belongs to the template.
    const reload = async () => {
      await Promise.all([version.refetch(), queries.refetchQueries({ queryKey: [getTemplate.id] })]);
      setLoads((before) => before + 1);
    };
    return (
      <DraftEditor
        key={loads}
        template={template}
        version={version.data}
        draft={draft}
        onReload={() => void reload()}
      />
    );
  }
  return <Published template={template} version={version.data} draft={draft} />;
}

function Published({ template, version, draft }: { template: Template; version: TemplateVersion; draft: Draft }) {
  const t = translator("templates");
  const navigate = useNavigate();
  const renew = useRenew(template.id);
  const canWrite = useCan("template:write");
  const [selected, setSelected] = useState<readonly string[]>([]);
  const [previewing, setPreviewing] = useState(false);
  const [failure, setFailure] = useState<unknown>(null);
  const number = String(version.version);
  const toDraft = () => navigate({ to: "/templates/$id", params: { id: template.id }, search: { version: "draft" } });
  const edit = async () => {
    try {
      if (!template.hasDraft) {
        // An earlier version becomes the draft under the template's present name.
        const { name: _, ...body } = savedBody(draft);
        await callEndpoint(saveTemplateDraft, { params: { id: template.id }, body });
        await renew();
      }
      await toDraft();
    } catch (error) {
      setFailure(error);
    }
  };
  const publisher = version.publishedBy?.name ?? version.publishedBy?.email;
  return (
    <>
      <TemplateHeader
        template={template}
        description={
          <>
            {publisher
              ? t("version.publishedBy", { version: number, name: publisher })
              : t("version.published", { version: number })}{" "}
            {version.publishedAt && <When at={version.publishedAt} />}
          </>
        }
        primary={
          canWrite && (
            <Button variant="default" onClick={() => void edit()}>
              {template.hasDraft ? t("version.toDraft") : t("version.edit")}
            </Button>
          )
        }
        sendFirst
        entries={[{ label: t("preview.open"), onClick: () => setPreviewing(true) }]}
      />
      <Workspace
        template={template.id}
        version={number}
        draft={draft}
        file={draft.file}
        edit={() => {}}
        readOnly
        selected={selected}
        onSelect={setSelected}
        notices={
          <>
            {failure !== null && <Failure error={failure} />}
            <Warnings warnings={version.warnings} />
          </>
        }
      />
      {previewing && (
        <PreviewDialog
          template={template.id}
          version={number}
          variables={draft.variables}
          onClose={() => setPreviewing(false)}
        />
      )}
    </>
  );
}

/** Everything known about the template is asked for again. */
function useRenew(id: string): () => Promise<void> {
  const queries = useQueryClient();
  return async () => {
    queries.removeQueries({ queryKey: [getTemplateVersion.id, { params: { id, version: "draft" } }] });
    await Promise.all(
      [getTemplate.id, listTemplates.id, listTemplateVersions.id].map((endpoint) =>
        queries.invalidateQueries({ queryKey: [endpoint] }),
      ),
    );
  };
}
