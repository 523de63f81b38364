import { Button, FileButton } from "@mantine/core";
import { useRef } from "react";
import { attachmentTypes } from "../../../../../server/features/templates/contract.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { Clip, Cross } from "../../../../shared/ui/icons.tsx";
import { nameOf } from "./describe.ts";
import { answerTo, isList, type Mine } from "./fields.ts";
import { useFilling } from "./store.ts";

/** Chooses, uploads and removes the files of an attachment or picture field. */
export function UploadControl({ field }: { field: Mine }) {
  const t = translator("sign");
  const filling = useFilling();
  const value = answerTo(field, filling.answers);
  const ids = isList(value) ? value : [];
  const most = field.type === "attachment" ? (field.maxFiles ?? 1) : 1;
  const accept =
    field.type === "attachment"
      ? (field.accept ?? attachmentTypes)
      : attachmentTypes.filter((type) => type.startsWith("image/"));
  const { files, sending, failures, send } = filling.uploads;
  const reset = useRef<() => void>(null);
  const choose = (file: File | null) => {
    // Else the browser says nothing when the same file is chosen once more.
    reset.current?.();
    if (file) send(field.id, file);
  };
  return (
    <div className="uploads">
      {ids.map((id) => {
        const name = files.find((entry) => entry.id === id)?.filename ?? id;
        return (
          <span className="upload-file" key={id}>
            <Clip size={16} />
            <span>{name}</span>
            <button
              type="button"
              aria-label={t("upload.remove", { name })}
              onClick={() =>
                filling.set(
                  field.id,
                  ids.filter((other) => other !== id),
                )
              }
            >
              <Cross size={16} />
            </button>
          </span>
        );
      })}
      {ids.length < most && (
        <FileButton
          accept={accept.join(",")}
          resetRef={reset}
          onChange={choose}
          inputProps={{ "aria-label": nameOf(field) }}
        >
          {(props) => (
            <Button {...props} variant="default" loading={sending.has(field.id)}>
              {t(field.type === "image" ? "upload.picture" : "upload.file")}
            </Button>
          )}
        </FileButton>
      )}
      {failures.has(field.id) && <Failure error={failures.get(field.id)} />}
    </div>
  );
}
