import { Button, FileButton } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { uploadAttachment } from "../../../../../server/features/signing/contract.ts";
import { attachmentTypes } from "../../../../../server/features/templates/contract.ts";
import { callEndpoint } from "../../../../shared/api/client.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { Clip, Cross } from "../../../../shared/ui/icons.tsx";
import { nameOf } from "./describe.ts";
import { isList, type Mine } from "./fields.ts";
import { useFilling } from "./store.ts";

/** Chooses, uploads and removes the files of an attachment or picture field. */
export function UploadControl({ field }: { field: Mine }) {
  const t = translator("sign");
  const filling = useFilling();
  const value = filling.answers.values[field.id];
  const ids = isList(value) ? value : [];
  const most = field.type === "attachment" ? (field.maxFiles ?? 1) : 1;
  const accept =
    field.type === "attachment"
      ? (field.accept ?? attachmentTypes)
      : attachmentTypes.filter((type) => type.startsWith("image/"));
  const upload = useMutation({
    mutationFn: (file: File) =>
      callEndpoint(uploadAttachment, { token: filling.token, body: { fields: { field: field.id }, file } }),
    onSuccess: (attachment) => filling.addUpload(field.id, attachment),
  });
  return (
    <div className="uploads">
      {ids.map((id) => {
        const name = filling.uploads.find((entry) => entry.id === id)?.filename ?? id;
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
          onChange={(file) => file && upload.mutate(file)}
          inputProps={{ "aria-label": nameOf(field) }}
        >
          {(props) => (
            <Button {...props} variant="default" loading={upload.isPending}>
              {t(field.type === "image" ? "upload.picture" : "upload.file")}
            </Button>
          )}
        </FileButton>
      )}
      {upload.isError && <Failure error={upload.error} />}
    </div>
  );
}
