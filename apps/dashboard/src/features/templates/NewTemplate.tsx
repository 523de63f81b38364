import { Button, Group, TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { Dialog } from "../../../../shared/ui/kit/Dialog.tsx";
import { PdfDrop } from "./PdfDrop.tsx";
import { useNewTemplate } from "./useNewTemplate.ts";

/** A name and a PDF become a template with a first draft, which is then shown. */
export function NewTemplate({ onClose }: { onClose: () => void }) {
  const t = translator("templates");
  const navigate = useNavigate();
  const { make, discard, step, progress } = useNewTemplate();
  const [name, setName] = useState("");
  const [file, setFile] = useState<File | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [missing, setMissing] = useState(false);
  const busy = step !== null;
  const close = () => {
    void discard();
    onClose();
  };

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!file || name.trim() === "") return setMissing(true);
    setError(null);
    try {
      const id = await make(name.trim(), file, { roles: [t("roles.first")] });
      await navigate({ to: "/templates/$id", params: { id } });
    } catch (reason) {
      setError(reason);
    }
  };

  return (
    <Dialog opened onClose={close} busy={busy} title={t("new.title")} size="lg">
      <form onSubmit={(event) => void submit(event)} className="stack">
        <PdfDrop
          file={file}
          progress={progress}
          disabled={busy}
          onFile={(chosen) => {
            setFile(chosen);
            setError(null);
            if (name === "") setName(chosen.name.replace(/\.pdf$/i, "").slice(0, 200));
          }}
        />
        {missing && !file && (
          <p className="refused" role="alert">
            {t("new.fileMissing")}
          </p>
        )}
        <TextInput
          label={t("new.name")}
          value={name}
          maxLength={200}
          error={missing && name.trim() === "" ? t("new.nameMissing") : null}
          disabled={busy}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        {error !== null && <Failure error={error} />}
        <Group justify="flex-end">
          <span className="soft" role="status">
            {step && t(`new.step.${step}`)}
          </span>
          <Button variant="default" onClick={close} disabled={busy}>
            {translator("common")("cancel")}
          </Button>
          <Button type="submit" loading={busy}>
            {error === null ? t("new.create") : translator("common")("retry")}
          </Button>
        </Group>
      </form>
    </Dialog>
  );
}
