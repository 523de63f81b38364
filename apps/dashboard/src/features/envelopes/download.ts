import { useMutation } from "@tanstack/react-query";
import { type DocumentVersion, type Envelope, getDocument } from "../../../../../server/features/envelopes/contract.ts";
import { getEvidence } from "../../../../../server/features/evidence/contract.ts";
import { getEnvelopeRetention } from "../../../../../server/features/retention/contract.ts";
import { callEndpoint } from "../../../../shared/api/client.ts";
import { useEndpoint } from "../../../../shared/api/queries.ts";

/** Which files of the envelope there are. */
export function versionsOf({ documentSha256, status, seal }: Envelope): DocumentVersion[] {
  return [
    ...(documentSha256 === null ? [] : (["original"] as const)),
    ...(seal === "sealed" ? (["sealed"] as const) : []),
    ...(status === "completed" && seal !== "pending" ? (["certificate"] as const) : []),
  ];
}

/** When the organization's retention deleted the files; null while they are there, or as long as that is not known. */
export function useDeletedAt({ id }: Envelope): string | null {
  return useEndpoint(getEnvelopeRetention, { params: { id } }).data?.deletedAt ?? null;
}

/** Fetches a file and hands it to the browser's own download; a refusal stays on the page. */
export function useDownload(envelope: Envelope) {
  return useMutation({
    mutationFn: async (version: DocumentVersion) => {
      const { bytes, filename } = await callEndpoint(getDocument, { params: { id: envelope.id }, query: { version } });
      save(bytes, "application/pdf", filename ?? `${envelope.id}.pdf`);
    },
  });
}

/** The evidence bundle, which there is once an anchor covers the seal. */
export function useEvidence(envelope: Envelope) {
  return useMutation({
    mutationFn: async () => {
      const { bytes, filename } = await callEndpoint(getEvidence, { params: { id: envelope.id } });
      save(bytes, "application/zip", filename ?? `${envelope.id}.zip`);
    },
  });
}

function save(bytes: BlobPart, type: string, filename: string): void {
  const url = URL.createObjectURL(new Blob([bytes], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = filename;
  link.click();
  // The download has taken the bytes over once the click's task is done.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
