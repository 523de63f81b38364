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
