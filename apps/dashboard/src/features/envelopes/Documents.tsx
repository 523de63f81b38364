import { SegmentedControl } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type DocumentVersion, type Envelope, getDocument } from "../../../../../server/features/envelopes/contract.ts";
import { callEndpoint } from "../../../../shared/api/client.ts";
import { translator } from "../../../../shared/i18n.ts";
import type { PageSize } from "../../../../shared/pdf/document.ts";
import { PdfPages } from "../../../../shared/pdf/PdfPages.tsx";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { Loading } from "../../../../shared/ui/kit/Loading.tsx";
import { useDeletedAt, versionsOf } from "./download.ts";
import { isInProgress } from "./status.ts";

const unknownSizes: readonly PageSize[] = [];

/** The document as it stands; the sealed one as soon as there is one. */
export function Documents({ envelope }: { envelope: Envelope }) {
  const t = translator("envelopes");
  const deletedAt = useDeletedAt(envelope);
  const versions = versionsOf(envelope);
  const [chosen, choose] = useState<DocumentVersion | null>(null);
  const version = chosen ?? (versions.includes("sealed") ? "sealed" : versions[0]);
  if (deletedAt !== null) return <p className="soft">{t("retention.deletedText")}</p>;
  if (version === undefined) {
    return <p className="soft">{isInProgress(envelope) ? t("documents.notReady") : t("documents.never")}</p>;
  }
  return (
    <section className="envelope-document" aria-label={t("documents.evidence")}>
      {versions.length > 1 && (
        <SegmentedControl
          aria-label={t("documents.choose")}
          value={version}
          onChange={(value) => choose(versions.find((name) => name === value) ?? null)}
          data={versions.map((value) => ({ value, label: t(`documents.${value}`) }))}
        />
      )}
      <Preview key={version} envelope={envelope} version={version} />
    </section>
  );
}

function Preview({ envelope, version }: { envelope: Envelope; version: DocumentVersion }) {
  const [broken, setBroken] = useState<unknown>(null);
  const { id, documentSha256, sealedSha256 } = envelope;
  const file = useQuery({
    // Another state of the file is another query; the same bytes are never fetched twice.
    queryKey: [getDocument.id, id, version, version === "original" ? documentSha256 : sealedSha256],
    queryFn: ({ signal }) => callEndpoint(getDocument, { params: { id }, query: { version }, signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (file.isError) return <Failure error={file.error} />;
  if (broken !== null) return <Failure error={broken} />;
  if (!file.data) return <Loading rows={1} height={720} />;
  return (
    <div className="envelope-pages">
      <PdfPages bytes={file.data.bytes} pages={unknownSizes} onFailure={setBroken} />
    </div>
  );
}
