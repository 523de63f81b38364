import { Button } from "@mantine/core";
import { useEffect, useState } from "react";
import { getEnvelope, type Recipient, resendToRecipient } from "../../../../../server/features/envelopes/contract.ts";
import { useAct } from "../../../../shared/api/queries.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { notify } from "../../../../shared/ui/kit/notify.tsx";

const pauseMs = 60_000;

/** Mails a fresh link, once a minute at most. */
export function Resend({ envelope, recipient }: { envelope: string; recipient: Recipient }) {
  const t = translator("envelopes");
  const left = useSecondsLeft(recipient.lastSentAt);
  const act = useAct(resendToRecipient, {
    changes: [getEnvelope],
    onDone: () => notify({ message: t("people.resent", { email: recipient.email }), tone: "good" }),
  });
  return (
    <div className="envelope-resend">
      <Button
        size="compact-sm"
        variant="default"
        // Stays in the order of the keyboard while it counts down.
        aria-disabled={left > 0}
        {...(left > 0 ? { "data-disabled": true } : {})}
        loading={act.isPending}
        aria-label={left > 0 ? t("people.resendIn", { seconds: left }) : `${t("people.resend")}: ${recipient.name}`}
        onClick={() => {
          if (left > 0) return;
          act.mutate({ params: { id: envelope, recipient: recipient.id } });
        }}
      >
        {left > 0 ? t("people.resendIn", { seconds: left }) : t("people.resend")}
      </Button>
      {act.isError && <Failure error={act.error} />}
    </div>
  );
}

/** Whole seconds until the pause after this moment is over; counts down. */
function useSecondsLeft(since: string | null): number {
  const until = since === null ? 0 : Date.parse(since) + pauseMs;
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    setNow(Date.now());
    if (until <= Date.now()) return;
    const timer = setInterval(() => {
      setNow(Date.now());
      if (Date.now() >= until) clearInterval(timer);
    }, 1000);
    return () => clearInterval(timer);
  }, [until]);
  // A clock that is behind the server's never makes anybody wait longer than the pause.
  return Math.max(0, Math.min(Math.ceil((until - now) / 1000), pauseMs / 1000));
}
