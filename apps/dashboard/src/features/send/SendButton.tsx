import { Button } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { createEnvelope, type Envelope, listEnvelopes } from "../../../../../server/features/envelopes/contract.ts";
import { callEndpoint, NoAnswer, ProblemResponse } from "../../../../shared/api/client.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { newKey } from "./draft.ts";
import type { Form } from "./form.ts";

const t = translator("send");

/** Sends the draft, once: the key stays the same until the service has refused for good. */
export function SendButton({
  form,
  testMode,
  onSent,
}: {
  form: Form;
  testMode: boolean;
  onSent: (e: Envelope) => void;
}) {
  const queries = useQueryClient();
  const busy = useRef(false);
  const [sending, setSending] = useState(false);
  const [error, setError] = useState<unknown>(null);

  const send = async (key: string) => {
    if (busy.current) return;
    busy.current = true;
    setSending(true);
    setError(null);
    try {
      const answer = await callEndpoint(createEnvelope, {
        query: { test_mode: testMode ? "1" : "0" },
        body: form.request,
        idempotencyKey: key,
      });
      if ("dryRun" in answer) return;
      form.forget();
      void queries.invalidateQueries({ queryKey: [listEnvelopes.id] });
      onSent(answer);
    } catch (caught) {
      setError(caught);
      // A refusal that was stored would be repeated under the same key, whatever is changed.
      if (isRefusal(caught)) form.change({ key: newKey() });
      form.refuse(caught);
    } finally {
      busy.current = false;
      setSending(false);
    }
  };

  const reused = error instanceof ProblemResponse && error.problem.code === "idempotency-key-reused";
  return (
    <div className="send-final">
      <div role="alert">
        {reused ? (
          <div className="notice bad">
            <strong>{t("review.reused")}</strong>
            {t("review.reusedText")} <Link to="/envelopes">{t("review.toEnvelopes")}</Link>{" "}
            <button
              type="button"
              className="plain"
              onClick={() => {
                const key = newKey();
                form.change({ key });
                void send(key);
              }}
            >
              {t("review.sendAnyway")}
            </button>
          </div>
        ) : (
          error !== null && <Failure error={error} />
        )}
        {error instanceof NoAnswer && <p className="soft">{t("review.noAnswer")}</p>}
      </div>
      <div className="send-final-row">
        <span className="send-mode" data-test={testMode || undefined}>
          <strong>{testMode ? t("review.testMode") : t("review.liveMode")}</strong>{" "}
          {testMode ? t("review.testModeText") : t("review.liveModeText")}
        </span>
        <Button size="md" loading={sending} onClick={() => void send(form.draft.key)}>
          {testMode ? t("review.sendTest") : t("review.send")}
        </Button>
      </div>
    </div>
  );
}

/** Whether the service has decided: the same request would be refused again, and nothing was made of it. */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof ProblemResponse)) return false;
  const { status, code } = error.problem;
  return status >= 400 && status < 500 && !code.startsWith("idempotency-") && code !== "rate-limited";
}
