import { useQuery } from "@tanstack/react-query";
import { getSigningDocument, type SigningView } from "../../../../../server/features/signing/contract.ts";
import { callEndpoint } from "../../../../shared/api/client.ts";

/** The bytes of the document that the session names now; another state of it is another query. */
export function useDocument(view: SigningView, token: string) {
  return useQuery({
    queryKey: ["document", token, view.document?.sha256],
    queryFn: ({ signal }) => callEndpoint(getSigningDocument, { token, signal }),
    enabled: view.document !== null,
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** Hands bytes to the browser's own download. */
export function saveFile(bytes: Uint8Array<ArrayBuffer>, filename: string): void {
  const url = URL.createObjectURL(new Blob([bytes], { type: "application/pdf" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = filename;
  link.click();
  // The download has taken the bytes over once the click's task is done.
  window.setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
