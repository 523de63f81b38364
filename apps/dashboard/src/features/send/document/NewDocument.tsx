import { Button } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import { translator } from "../../../../../shared/i18n.ts";
import { Failure } from "../../../../../shared/ui/Failure.tsx";
import { PdfDrop } from "../../templates/PdfDrop.tsx";
import { useNewTemplate } from "../../templates/useNewTemplate.ts";
import { onDropped, takeDropped } from "./dropped.ts";

const t = translator("send");

/** Takes a PDF and makes it ready to be sent once: fields are proposed where it asks for something. */
export function NewDocument({ onMade }: { onMade: (template: string) => void }) {
  const { make, step, progress } = useNewTemplate();
  const [file, setFile] = useState<File | null>(null);
  const [error, setError] = useState<unknown>(null);
  const busy = step !== null;
  const running = useRef(false);
  const begin = async (chosen: File) => {
    // One at a time: another file that is dropped meanwhile is another document.
    if (running.current) return;
    running.current = true;
    setFile(chosen);
    setError(null);
    try {
      const name =
        chosen.name
          .replace(/\.pdf$/i, "")
          .trim()
          .slice(0, 200) || t("document.unnamed");
      onMade(await make(name, chosen, { roles: [`${t("document.signer")} 1`], listed: false, propose: true }));
    } catch (reason) {
      setError(reason);
    } finally {
      running.current = false;
    }
  };
  const latest = useRef(begin);
  latest.current = begin;
  useEffect(() => {
    const take = () => {
      const dropped = takeDropped();
      if (dropped) void latest.current(dropped);
    };
    take();
    return onDropped(take);
  }, []);
  return (
    <section className="send-new" aria-labelledby="send-new">
      <h2 id="send-new">{t("document.title")}</h2>
      <PdfDrop file={file} progress={progress} disabled={busy} onFile={(chosen) => void begin(chosen)} />
      <p className="soft send-new-text" role="status">
        {step ? t(`document.step.${step}`) : t("document.text")}
      </p>
      {error !== null && (
        <>
          <Failure error={error} />
          {file && (
            <Button variant="default" onClick={() => void begin(file)}>
              {translator("common")("retry")}
            </Button>
          )}
        </>
      )}
    </section>
  );
}
