import { Button, Group } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import {
  type SignatureInput,
  signatureFonts,
  signatureMethods,
} from "../../../../../server/features/signing/contract.ts";
import {
  deleteSavedSignature,
  getSavedSignature,
  saveSignature,
} from "../../../../../server/features/signing/saved-signature-contract.ts";
import { callEndpoint, ProblemResponse } from "../../../../shared/api/client.ts";
import { translator } from "../../../../shared/i18n.ts";
import { rememberSavedSignature } from "../../../../shared/saved-signature.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { Loading } from "../../../../shared/ui/kit/Loading.tsx";
import { notify } from "../../../../shared/ui/kit/notify.tsx";
import { SignatureDialog } from "../../../../shared/ui/signature/SignatureDialog.tsx";
import { SignaturePicture } from "../../../../shared/ui/signature/SignaturePicture.tsx";
import { useSession } from "../../session.tsx";
import { AccountSection } from "./AccountSection.tsx";

const queryKey = [getSavedSignature.id];

/** The signature that the person keeps for documents that they sign themselves. */
export function SavedSignature() {
  const t = translator("settings");
  const { user } = useSession();
  const queries = useQueryClient();
  const [making, setMaking] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const saved = useQuery({
    queryKey,
    queryFn: async ({ signal }): Promise<SignatureInput | null> => {
      try {
        return await callEndpoint(getSavedSignature, { signal });
      } catch (reason) {
        if (reason instanceof ProblemResponse && reason.problem.status === 404) return null;
        throw reason;
      }
    },
  });
  const { data } = saved;
  useEffect(() => {
    if (data !== undefined) rememberSavedSignature(data === null ? null : user.email);
  }, [data, user.email]);

  const change = async (signature: SignatureInput | null) => {
    setMaking(false);
    setError(null);
    try {
      if (signature) await callEndpoint(saveSignature, { body: signature });
      else await callEndpoint(deleteSavedSignature, {});
      queries.setQueryData(queryKey, signature);
      notify({ message: t(signature ? "savedSignature.saved" : "savedSignature.deleted"), tone: "good" });
    } catch (reason) {
      setError(reason);
    }
  };
  return (
    <AccountSection title={t("savedSignature.title")} text={t("savedSignature.text")}>
      {saved.isPending && <Loading rows={1} />}
      {saved.isError && <Failure error={saved.error} />}
      {data && (
        <div className="saved-signature-shown" role="img" aria-label={t("savedSignature.shown")}>
          <SignaturePicture signature={data} width={280} height={80} />
        </div>
      )}
      {data !== undefined && (
        <Group gap="sm">
          <Button variant="default" onClick={() => setMaking(true)}>
            {t(data ? "savedSignature.change" : "savedSignature.make")}
          </Button>
          {data && (
            <Button variant="subtle" color="brick" onClick={() => void change(null)}>
              {t("savedSignature.delete")}
            </Button>
          )}
        </Group>
      )}
      {error !== null && <Failure error={error} />}
      {making && (
        <SignatureDialog
          kind="signature"
          methods={signatureMethods}
          fonts={signatureFonts}
          name={user.name}
          before={data ?? null}
          onClose={() => setMaking(false)}
          onSave={(signature) => void change(signature)}
        />
      )}
    </AccountSection>
  );
}
