import { Button, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useEffect, useId, useRef, useState } from "react";
import {
  type OtpSent,
  type OtpState,
  requestSigningCode,
  verifySigningCode,
} from "../../../../../server/features/signing/contract.ts";
import { callEndpoint, ProblemResponse } from "../../../../shared/api/client.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { Shield } from "../../../../shared/ui/icons.tsx";
import type { ScreenProps } from "../../routes.tsx";
import { Stage } from "../access/Stage.tsx";
import { isOver } from "../finish/over.ts";

/** How long a code can be entered. */
const codeLifetimeMs = 600_000;

/** Asks for the one-time code that shows that the signer reads the mail of the address. */
export function CodeScreen({ view, access, reload }: ScreenProps) {
  const t = translator("sign");
  const [opened] = useState(() => Date.now());
  const [asked, setAsked] = useState<(OtpSent & { at: number }) | null>(null);
  const send = useMutation({
    mutationFn: () => callEndpoint(requestSigningCode, { token: access.token, body: {} }),
    onSuccess: (answer) => setAsked({ ...answer, at: Date.now() }),
  });
  // Before the page was loaded again, perhaps. Whether it has expired is the service's to say: this device's clock may be wrong.
  const sent = asked ?? view.otp.sent;
  const again = asked ? asked.at + pauseAfter(asked) : resendFrom(view.otp.sent, opened);
  const refused = send.error instanceof ProblemResponse ? send.error.problem.retryAfter : undefined;
  const wait = useSecondsUntil(refused === undefined ? again : send.submittedAt + refused * 1000);
  // A code that staff hand over is never sent from here.
  const handedOver = view.otp.channel === null;
  const destination = asked?.destination ?? view.otp.destination ?? view.recipient.email;
  return (
    <Stage view={view} title={t("code.title")} icon={<Shield size={28} />}>
      <p>{t("code.intro", { organization: view.sender.organization, title: view.envelope.title })}</p>
      <p aria-live="polite">
        {handedOver
          ? t("code.handedOver", { organization: view.sender.organization })
          : t(sent ? "code.sentTo" : "code.willSend", { destination })}
      </p>
      {view.envelope.testMode && !handedOver && <p className="fine">{t("code.testMode")}</p>}
      {send.isError && <Failure error={send.error} />}
      {sent || handedOver ? (
        <CodeForm
          key={sent?.expiresAt}
          sent={sent}
          token={access.token}
          onVerified={reload}
          resend={() => send.mutate()}
          sending={send.isPending}
          wait={wait}
        />
      ) : (
        <>
          <Button
            fullWidth
            size="md"
            loading={send.isPending}
            {...(wait > 0 && { "data-disabled": true })}
            aria-disabled={wait > 0}
            onClick={() => wait > 0 || send.mutate()}
          >
            {t("code.send")}
          </Button>
          {wait > 0 && <p className="fine">{t("code.again", { seconds: wait })}</p>}
        </>
      )}
    </Stage>
  );
}

type FormProps = {
  sent: OtpState["sent"];
  token: string;
  onVerified: () => Promise<void>;
  resend: () => void;
  sending: boolean;
  /** Seconds until another code can be sent. */
  wait: number;
};

function CodeForm({ sent, token, onVerified, resend, sending, wait }: FormProps) {
  const t = translator("sign");
  const [code, setCode] = useState("");
  const input = useRef<HTMLInputElement>(null);
  const hint = useId();
  useEffect(() => input.current?.focus(), []);
  const verify = useMutation({
    mutationFn: (digits: string) => callEndpoint(verifySigningCode, { token, body: { code: digits } }),
    onSuccess: onVerified,
    onError: (error) => {
      // It ended meanwhile: the session knows what to show instead.
      if (isOver(error)) return void onVerified();
      setCode("");
      input.current?.focus();
    },
  });
  const enter = (text: string) => {
    const digits = text.replace(/\D/g, "").slice(0, 6);
    setCode(digits);
    if (digits.length === 6 && digits !== code) verify.mutate(digits);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (code.length === 6) verify.mutate(code);
  };
  return (
    <form onSubmit={submit}>
      <TextInput
        ref={input}
        label={t("code.label")}
        size="lg"
        value={code}
        onChange={(event) => enter(event.currentTarget.value)}
        inputMode="numeric"
        autoComplete="one-time-code"
        aria-describedby={hint}
        error={verify.isError ? <WrongCode error={verify.error} /> : undefined}
        // Not disabled: that would take the focus away, and a wrong code is typed anew.
        readOnly={verify.isPending || verify.isSuccess}
        classNames={{ input: "code-input" }}
      />
      <p className="fine" id={hint}>
        {t("code.hint")}
      </p>
      <Button
        type="submit"
        fullWidth
        size="md"
        disabled={code.length < 6}
        loading={verify.isPending || verify.isSuccess}
      >
        {t("code.confirm")}
      </Button>
      <p className="fine" hidden={sent === null}>
        {t("code.missing")}{" "}
        {wait > 0 ? (
          t("code.again", { seconds: wait })
        ) : (
          <button type="button" className="plain" onClick={resend} disabled={sending}>
            {t("code.resend")}
          </button>
        )}
      </p>
    </form>
  );
}

function WrongCode({ error }: { error: unknown }) {
  const t = translator("sign");
  if (!(error instanceof ProblemResponse)) return <>{error instanceof Error ? error.message : String(error)}</>;
  const { detail, attemptsRemaining, requestId } = error.problem;
  return (
    <span role="alert">
      {detail} {attemptsRemaining !== undefined && t("code.remaining", { count: attemptsRemaining })}{" "}
      <small>{t("link.id", { id: requestId })}</small>
    </span>
  );
}

/** Milliseconds from the sending of a code until another one can be sent: both times are the service's. */
function pauseAfter({ expiresAt, resendAt }: NonNullable<OtpState["sent"]>): number {
  return Date.parse(resendAt) - (Date.parse(expiresAt) - codeLifetimeMs);
}

/** When another code can be sent, by this device's clock: never later than if the last one had been sent as the page opened. */
function resendFrom(sent: OtpState["sent"], opened: number): number {
  return sent === null ? 0 : Math.min(Date.parse(sent.resendAt), opened + pauseAfter(sent));
}

/** @param end milliseconds since 1970 by this device's clock; 0 for no wait */
function useSecondsUntil(end: number): number {
  const [, tick] = useState(0);
  const seconds = Math.max(0, Math.ceil((end - Date.now()) / 1000));
  const waits = seconds > 0;
  useEffect(() => {
    if (!waits) return;
    const timer = window.setInterval(() => tick((count) => count + 1), 1000);
    return () => window.clearInterval(timer);
  }, [waits]);
  return seconds;
}
