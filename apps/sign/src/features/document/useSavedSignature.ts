import { useQuery } from "@tanstack/react-query";
import { getSession } from "../../../../../server/features/sign-in/contract.ts";
import type { SignatureInput, SigningView } from "../../../../../server/features/signing/contract.ts";
import { getSavedSignature } from "../../../../../server/features/signing/saved-signature-contract.ts";
import { callEndpoint } from "../../../../shared/api/client.ts";
import { hasSavedSignature } from "../../../../shared/saved-signature.ts";

/** The signature that this signer keeps in the dashboard, where they are signed in to it in this browser; else null. */
export function useSavedSignature({ recipient }: SigningView): SignatureInput | null {
  const { data } = useQuery({
    queryKey: [getSavedSignature.id, recipient.email],
    queryFn: async ({ signal }) => {
      // Another member may be signed in to the dashboard now.
      const { user } = await callEndpoint(getSession, { signal });
      if (user.email.toLowerCase() !== recipient.email.toLowerCase()) return null;
      return await callEndpoint(getSavedSignature, { signal });
    },
    enabled: hasSavedSignature(recipient.email),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  return data ?? null;
}
