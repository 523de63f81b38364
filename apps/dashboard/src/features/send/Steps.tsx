import { Link } from "@tanstack/react-router";
import { translator } from "../../../../shared/i18n.ts";
import { type Step, templateSteps } from "./search.ts";

const t = translator("send");

type Props = {
  /** `choice`: what is to be sent is still open. */
  at: Step | "choice";
  steps?: readonly Step[];
  onGo?: (step: Step) => void;
};

/** Where one is on the way to an envelope. */
export function Steps({ at, steps = templateSteps, onGo }: Props) {
  const all = ["choice", ...steps] as const;
  return (
    <nav className="send-steps" aria-label={t("steps.label")}>
      <ol>
        {all.map((step, index) => (
          <li key={step} data-done={index < all.indexOf(at) || undefined}>
            {step === "choice" && at !== "choice" ? (
              <Link to="/send" search={{}}>
                <StepName step={step} number={index + 1} />
              </Link>
            ) : (
              <button
                type="button"
                aria-current={step === at ? "step" : undefined}
                disabled={!onGo && step !== at}
                onClick={() => step !== "choice" && onGo?.(step)}
              >
                <StepName step={step} number={index + 1} />
              </button>
            )}
          </li>
        ))}
      </ol>
    </nav>
  );
}

function StepName({ step, number }: { step: Step | "choice"; number: number }) {
  return (
    <>
      <span className="send-step-number" aria-hidden="true">
        {number}
      </span>
      <span className="send-step-name">{t(`steps.${step}`)}</span>
    </>
  );
}
