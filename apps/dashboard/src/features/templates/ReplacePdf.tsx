import { Button, Group } from "@mantine/core";
import { useRef, useState } from "react";
import { type TemplateFile, uploadTemplateFile } from "../../../../../server/features/templates/contract.ts";
import { uploadTo } from "../../../../shared/api/upload.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { Dialog } from "../../../../shared/ui/kit/Dialog.tsx";
import { PdfDrop } from "./PdfDrop.tsx";

type Props = {
  template: string;
  title: string;
  text: string;
  onClose: () => void;
  onUploaded: (file: TemplateFile) => void;
};

/** Uploads a PDF for the draft. */
export function ReplacePdf({ template, title, text, onClose, onUploaded }: Props) {
  const t = translator("templates");
  const [file, setFile] = useState<File | null>(null);
  const [progress, setProgress] = useState<number | null>(null);
  const [error, setError] = useState<unknown>(null);
  const sent = useRef<{ file: File; key: string } | null>(null);
  const upload = async () => {
    if (!file) return;
    // The same file under the same key: a repeat makes no second one.
    if (sent.current?.file !== file) sent.current = { file, key: crypto.randomUUID() };
    const { key } = sent.current;
    setError(null);
    setProgress(0);
    try {
      const made = await uploadTo(
        uploadTemplateFile,
        { params: { id: template }, body: file, idempotencyKey: key },
        setProgress,
      );
      onUploaded(made);
    } catch (reason) {
      setError(reason);
    } finally {
      setProgress(null);
    }
  };
  const busy = progress !== null;
  return (
    <Dialog opened onClose={onClose} busy={busy} title={title} size="lg">
      <div className="stack">
        <p className="hint">{text}</p>
        <PdfDrop file={file} progress={progress} disabled={busy} onFile={setFile} />
        {error !== null && <Failure error={error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} disabled={busy}>
            {translator("common")("cancel")}
          </Button>
          <Button onClick={() => void upload()} loading={busy} disabled={!file}>
            {t("upload.send")}
          </Button>
        </Group>
      </div>
    </Dialog>
  );
}
