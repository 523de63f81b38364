import { Button, FileButton, Loader } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type DragEvent, useEffect, useRef, useState } from "react";
import { translator } from "../../shared/i18n.ts";
import { Brand } from "../../shared/ui/Brand.tsx";
import { Failure } from "../../shared/ui/Failure.tsx";
import { Pages } from "../../shared/ui/icons.tsx";
import { checkFile, type Stage } from "./features/check.ts";
import { Report } from "./features/Report.tsx";

/** The public verification page: one file in, one verdict out. */
export function Verify() {
  const t = translator("verify");
  const [stage, setStage] = useState<Stage>("hashing");
  const check = useMutation({ mutationFn: (file: File) => checkFile(file, setStage) });
  const take = (file: File | null | undefined) => {
    if (file) check.mutate(file);
  };
  return (
    <div className="stage">
      <header className="bar">
        <Brand href="/" />
      </header>
      <main className="verify">
        <h1>{t("title")}</h1>
        {!check.isSuccess && <p className="lead">{t("lead")}</p>}
        <p className="spoken" aria-live="polite">
          {check.isPending ? t(stage) : check.isSuccess ? t(`verdict.${check.data.verdict}`) : ""}
        </p>
        {check.isPending && (
          <div className="card busy">
            <Loader aria-hidden="true" />
            <span aria-hidden="true">{t(stage)}</span>
          </div>
        )}
        {check.isError && (
          <>
            <h2>{t("trouble")}</h2>
            <Failure error={check.error} />
          </>
        )}
        {check.isSuccess && <Report outcome={check.data} />}
        {check.isSuccess ? (
          <Button variant="default" onClick={() => check.reset()}>
            {t("again")}
          </Button>
        ) : (
          !check.isPending && <DropZone onFile={take} />
        )}
        <p className="soft foot">
          {t("foot")} <a href="/.well-known/svc/keys.json">/.well-known/svc/keys.json</a>
        </p>
      </main>
    </div>
  );
}

function DropZone({ onFile }: { onFile: (file: File | null | undefined) => void }) {
  const t = translator("verify");
  const [over, setOver] = useState(false);
  const report = useRef(onFile);
  report.current = onFile;
  useEffect(() => {
    // A file that misses the zone must not replace the page.
    const stop = (event: globalThis.DragEvent) => event.preventDefault();
    const drop = (event: globalThis.DragEvent) => {
      event.preventDefault();
      setOver(false);
      report.current(event.dataTransfer?.files[0]);
    };
    window.addEventListener("dragover", stop);
    window.addEventListener("drop", drop);
    return () => {
      window.removeEventListener("dragover", stop);
      window.removeEventListener("drop", drop);
    };
  }, []);
  const enter = (event: DragEvent) => setOver(event.type === "dragenter" || event.type === "dragover");
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping is the pointer's way; the button inside does the same
    <div className="card drop" data-over={over || undefined} onDragEnter={enter} onDragOver={enter} onDragLeave={enter}>
      <Pages size={44} />
      <p className="drop-title">{t("drop")}</p>
      <p className="soft">{t("or")}</p>
      <FileButton accept="application/pdf" onChange={onFile} inputProps={{ "aria-label": t("choose") }}>
        {(props) => (
          <Button size="md" {...props}>
            {t("choose")}
          </Button>
        )}
      </FileButton>
    </div>
  );
}
