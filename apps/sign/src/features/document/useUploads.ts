import { useCallback, useState } from "react";
import {
  type Attachment,
  type SigningView,
  uploadAttachment,
} from "../../../../../server/features/signing/contract.ts";
import { callEndpoint } from "../../../../shared/api/client.ts";

/** The files of the upload fields: those that the service has, those on their way, and what did not arrive. */
export type Uploads = {
  files: readonly Attachment[];
  /** Fields of which a file is on its way. */
  sending: ReadonlySet<string>;
  /** Why the last file of a field did not arrive. */
  failures: ReadonlyMap<string, unknown>;
  send(field: string, file: File): void;
};

/** Sends files for as long as the document is open: whoever goes on to the next field meanwhile loses none and hears of each that fails. */
export function useUploads(view: SigningView, token: string, onArrived: (upload: Attachment) => void): Uploads {
  const [files, setFiles] = useState<readonly Attachment[]>(view.attachments);
  const [sending, setSending] = useState<ReadonlySet<string>>(new Set());
  const [failures, setFailures] = useState<ReadonlyMap<string, unknown>>(new Map());
  const send = useCallback(
    async (field: string, file: File) => {
      setSending((before) => new Set(before).add(field));
      setFailures((before) => without(before, field));
      try {
        const upload = await callEndpoint(uploadAttachment, { token, body: { fields: { field }, file } });
        setFiles((before) => [...before, upload]);
        onArrived(upload);
      } catch (error) {
        setFailures((before) => new Map(before).set(field, error));
      } finally {
        setSending((before) => new Set([...before].filter((other) => other !== field)));
      }
    },
    [token, onArrived],
  );
  return { files, sending, failures, send: (field, file) => void send(field, file) };
}

function without<V>(map: ReadonlyMap<string, V>, key: string): ReadonlyMap<string, V> {
  return new Map([...map].filter(([other]) => other !== key));
}
