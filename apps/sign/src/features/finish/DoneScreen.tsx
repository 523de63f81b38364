import { Button } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { getSigningDocument } from "../../../../../server/features/signing/contract.ts";
import { callEndpoint } from "../../../../shared/api/client.ts";
import { translator } from "../../../../shared/i18n.ts";
import { PdfPages } from "../../../../shared/pdf/PdfPages.tsx";
import { saveFile } from "../../../../shared/save-file.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { Check, Download } from "../../../../shared/ui/icons.tsx";
import type { ScreenProps } from "../../routes.tsx";
import { Stage } from "../access/Stage.tsx";
import { useDocument } from "../document/useDocument.ts";
import { Parties } from "./Parties.tsx";

/** The signer is done: what happens next, the document to keep, and the way back to where they came from. */
export default function DoneScreen({ view, access, result }: ScreenProps) {
  const t = translator("sign");
  const finished = view.envelope.sealed;
  const sealing = view.envelope.status === "completed" && !finished;
  const [reading, setReading] = useState(false);
  /** Whoever does something here is not led away from it (WCAG 2.2.1). */
  const [stays, setStays] = useState(false);
  const download = useMutation({
    mutationFn: () => callEndpoint(getSigningDocument, { token: access.token }),
    onSuccess: (file) => saveFile(file.bytes, file.filename ?? `${view.envelope.title}.pdf`),
  });
  return (
    <>
      <Stage
        view={view}
        title={t(finished ? "done.finishedTitle" : "done.title", { name: view.recipient.name })}
        icon={<Check size={30} />}
      >
        <p aria-live="polite">
          {t(finished ? "done.finished" : sealing ? "done.sealing" : "done.waiting", {
            title: view.envelope.title,
            email: view.recipient.email,
          })}
        </p>
        <Parties view={view} />
        {download.isError && <Failure error={download.error} />}
        <div className="stacked">
          <Button
            size="md"
            leftSection={<Download size={18} />}
            loading={download.isPending || sealing}
            onClick={() => {
              setStays(true);
              download.mutate();
            }}
          >
            {t(finished ? "done.download" : "done.downloadSoFar")}
          </Button>
          <Button
            variant="default"
            onClick={() => {
              setStays(true);
              setReading(!reading);
            }}
            aria-expanded={reading}
          >
            {t(reading ? "done.hide" : "done.read")}
          </Button>
          {result?.redirectUrl && <Return url={result.redirectUrl} stays={stays} />}
        </div>
        <p className="fine">
          {t("done.verify")} <a href="/verify">{t("done.verifyLink")}</a>
        </p>
      </Stage>
      {reading && <ReadOnly view={view} token={access.token} />}
    </>
  );
}

function ReadOnly({ view, token }: { view: ScreenProps["view"]; token: string }) {
  const document = useDocument(view, token);
  if (document.isError) return <Failure error={document.error} />;
  return (
    <section className="reading">
      {view.document && <PdfPages bytes={document.data?.bytes ?? null} pages={view.document.pages} />}
    </section>
  );
}

/** Leads back after a moment that is long enough to read the page, unless the person stays, and at once by the link. */
function Return({ url, stays }: { url: string; stays: boolean }) {
  const t = translator("sign");
  const [seconds, setSeconds] = useState(8);
  useEffect(() => {
    if (stays || window.parent !== window) return;
    if (seconds === 0) {
      window.location.assign(url);
      return;
    }
    const timer = window.setTimeout(() => setSeconds(seconds - 1), 1000);
    return () => window.clearTimeout(timer);
  }, [seconds, url, stays]);
  const { host } = new URL(url);
  return (
    <a className="return" href={url}>
      {stays ? t("done.backNow", { host }) : t("done.back", { host, seconds })}
    </a>
  );
}
