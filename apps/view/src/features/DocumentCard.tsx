import { Button, Loader } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { getViewerDocument, type ViewerEnvelope } from "../../../../server/features/viewers/contract.ts";
import { callEndpoint } from "../../../shared/api/client.ts";
import { translator } from "../../../shared/i18n.ts";
import { PdfPages } from "../../../shared/pdf/PdfPages.tsx";
import { saveFile } from "../../../shared/save-file.ts";
import { Failure } from "../../../shared/ui/Failure.tsx";
import { Download } from "../../../shared/ui/icons.tsx";

type Props = { status: ViewerEnvelope; token: string };

/** The document to read and to keep, where the sender shares it. */
export function DocumentCard({ status, token }: Props) {
  const t = translator("view");
  const { version } = status.document;
  const [reading, setReading] = useState(false);
  const download = useMutation({
    mutationFn: () => callEndpoint(getViewerDocument, { token }),
    onSuccess: (file) => saveFile(file.bytes, file.filename ?? `${status.envelope.title}.pdf`),
  });
  return (
    <section className="card" aria-labelledby="document">
      <h2 id="document">{t("document.title")}</h2>
      {version === null ? (
        <p className="soft">{t(status.envelope.status === "rendering" ? "document.soon" : "document.kept")}</p>
      ) : (
        <>
          <p>
            {t(`document.${version}`)} {version === "sealed" && <a href="/verify">{t("document.verify")}</a>}
          </p>
          {download.isError && <Failure error={download.error} />}
          <div className="view-actions">
            <Button variant="default" aria-expanded={reading} onClick={() => setReading(!reading)}>
              {t(reading ? "document.hide" : "document.show")}
            </Button>
            <Button leftSection={<Download size={18} />} loading={download.isPending} onClick={() => download.mutate()}>
              {t("document.download")}
            </Button>
          </div>
          {reading && <Reading key={version} version={version} token={token} />}
        </>
      )}
    </section>
  );
}

const unknownSizes: [] = [];

function Reading({ version, token }: { version: string; token: string }) {
  const t = translator("view");
  const [broken, setBroken] = useState<unknown>(null);
  const file = useQuery({
    // The version and not the token: access that was renewed shows the same document.
    queryKey: [getViewerDocument.id, version],
    queryFn: ({ signal }) => callEndpoint(getViewerDocument, { token, signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (file.isError || broken !== null) return <Failure error={file.error ?? broken} />;
  return (
    <section className="view-reading" aria-label={t("document.title")}>
      {file.data ? (
        <PdfPages bytes={file.data.bytes} pages={unknownSizes} onFailure={setBroken} />
      ) : (
        <Loader aria-label={translator("common")("loading")} />
      )}
    </section>
  );
}
