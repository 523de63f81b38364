import { Button } from "@mantine/core";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { getTemplate, getTemplateVersion } from "../../../../../server/features/templates/contract.ts";
import { useEndpoint } from "../../../../shared/api/queries.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { Loading } from "../../../../shared/ui/kit/Loading.tsx";
import { PageHeader } from "../../../../shared/ui/kit/PageHeader.tsx";
import { useMode } from "../../mode.tsx";
import { useCan } from "../../session.tsx";
import { Forbidden } from "../send/Forbidden.tsx";
import { TemplateChoice } from "../send/TemplateChoice.tsx";
import { BatchForm } from "./BatchForm.tsx";
import { mostRows } from "./rows.ts";
import { useFile } from "./useFile.ts";
import "../send/send.css";
import "./bulk.css";

const t = translator("send");

/** Sending one envelope for each row of a file. */
export function BulkPage() {
  const { template } = useSearch({ from: "/workspace/bulk" });
  const navigate = useNavigate();
  if (!useCan("envelope:send")) return <Forbidden />;
  return (
    <>
      <PageHeader
        title={t("bulk.title")}
        description={t("bulk.text", { most: mostRows })}
        actions={
          <Button
            variant="default"
            renderRoot={(props) => <Link to="/send" search={template ? { template } : {}} {...props} />}
          >
            {t("bulk.toSend")}
          </Button>
        }
      />
      {template ? (
        <Chosen key={template} template={template} />
      ) : (
        <TemplateChoice onChoose={({ id }) => void navigate({ to: "/bulk", search: { template: id } })} />
      )}
    </>
  );
}

function Chosen({ template }: { template: string }) {
  const { testMode } = useMode();
  const csv = useFile();
  /** The version that an earlier part of the file was sent with. */
  const [pinned, setPinned] = useState<number | null>(null);
  const about = useEndpoint(getTemplate, { params: { id: template } });
  const version = useEndpoint(
    getTemplateVersion,
    { params: { id: template, version: pinned === null ? "latest" : String(pinned) } },
    { keepPrevious: true },
  );
  const error = about.error ?? version.error;
  if (error) return <Failure error={error} />;
  if (!about.data || !version.data) return <Loading rows={4} height={72} />;
  return (
    <>
      <p className="bulk-template">
        {t("bulk.template")}: <strong>{about.data.name}</strong>{" "}
        <Link to="/bulk" search={{}}>
          {t("template.other")}
        </Link>
      </p>
      <BatchForm
        key={`${csv.file?.hash} ${testMode}`}
        version={version.data}
        csv={csv}
        testMode={testMode}
        onVersion={setPinned}
      />
    </>
  );
}
