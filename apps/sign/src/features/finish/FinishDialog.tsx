import { Button, Checkbox } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import {
  type SigningResult,
  type SubmitSigning,
  submitSigning,
} from "../../../../../server/features/signing/contract.ts";
import { callEndpoint } from "../../../../shared/api/client.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { Dialog } from "../../../../shared/ui/kit/Dialog.tsx";
import type { ScreenProps } from "../../routes.tsx";
import { isOver } from "./over.ts";

type Props = ScreenProps & {
  submission: () => Omit<SubmitSigning, "consent">;
  onClose: () => void;
  onSigned: (result: SigningResult) => Promise<void>;
  /** Takes a refusal; true when it belongs to fields and the dialog has to make room. */
  onRefused: (error: unknown) => boolean;
};

/** The consent step: what the signer agrees to, the agreement, and the signature. */
export function FinishDialog({ view, access, reload, submission, onClose, onSigned, onRefused }: Props) {
  const t = translator("sign");
  const { consent } = view;
  const [agreed, setAgreed] = useState(false);
  const [english, setEnglish] = useState(false);
  const submit = useMutation({
    mutationFn: () =>
      callEndpoint(submitSigning, {
        token: access.token,
        body: {
          ...submission(),
          consent: { accepted: true, version: consent.version, locale: english ? "en" : consent.locale },
        },
      }),
    onSuccess: onSigned,
    onError: (error) => {
      if (onRefused(error)) onClose();
      else if (isOver(error)) void reload();
    },
  });
  const busy = submit.isPending || submit.isSuccess;
  return (
    <Dialog opened onClose={onClose} title={t("consent.title")} centered size="lg" busy={busy}>
      <p className="tight">{t("consent.intro", { title: view.envelope.title })}</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <section className="consent" tabIndex={0} aria-label={t("consent.text")} lang={english ? "en" : consent.locale}>
        {(english ? consent.english.text : consent.text).split(/\n{2,}/).map((paragraph) => (
          <p key={paragraph}>{paragraph}</p>
        ))}
      </section>
      {!consent.locale.startsWith("en") && (
        <p className="fine">
          {t("consent.englishApplies")}{" "}
          <button type="button" className="plain" onClick={() => setEnglish(!english)}>
            {t(english ? "consent.showTranslated" : "consent.showEnglish")}
          </button>
        </p>
      )}
      <Checkbox
        data-autofocus
        label={t("consent.agree")}
        checked={agreed}
        onChange={(event) => setAgreed(event.currentTarget.checked)}
        mb="md"
      />
      {submit.isError && <Failure error={submit.error} />}
      <div className="actions">
        <Button variant="default" onClick={onClose} disabled={busy}>
          {t("consent.back")}
        </Button>
        <Button disabled={!agreed} loading={busy} onClick={() => submit.mutate()}>
          {t("consent.sign")}
        </Button>
      </div>
    </Dialog>
  );
}
