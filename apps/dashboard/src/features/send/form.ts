import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { TemplateVersion } from "../../../../../server/features/templates/contract.ts";
import type { Problem } from "../../../../../server/kernel/problem.ts";
import { ProblemResponse } from "../../../../shared/api/client.ts";
import { fieldErrors } from "../../../../shared/ui/kit/fieldErrors.ts";
import { type Finding, findingsOf, type Request } from "./check.ts";
import { type Draft, emptyDraft, forgetDraft, isTouched, keepDraft, readDraft } from "./draft.ts";
import { explain } from "./explain.ts";
import { requestOf, stepOf } from "./request.ts";
import type { Step } from "./search.ts";

type Errors = Readonly<Record<string, string>>;

/** What the steps share: the draft, what is wrong with it, and how an input takes part. */
export type Form = {
  version: TemplateVersion;
  timeZone: string;
  draft: Draft;
  /** All of them, in their order. */
  steps: readonly Step[];
  /** The one that is shown. */
  step: Step;
  request: Request;
  touched: boolean;
  /** @param at pointers (or beginnings of them) whose errors no longer say anything */
  change: (patch: Partial<Draft>, ...at: string[]) => void;
  errors: Errors;
  /** Attributes of the input for what the pointer names. */
  input: (pointer: string) => { "data-pointer": string; error: string | undefined };
  /** The service's refusal that concerns no single input. */
  refusal: Problem | null;
  refuse: (error: unknown) => void;
  /** Shows a step, when everything before it is right; else the first one that is not. */
  go: (step: Step) => void;
  startOver: () => void;
  forget: () => void;
};

/** Which step the address names, and how to name another: as a new entry of the browser's history, or in place of this one. */
export type StepAddress = {
  steps: readonly Step[];
  named: Step | undefined;
  name: (step: Step, replace: boolean) => void;
};

/**
 * Keeps the draft of one template in this tab.
 * @param owner whose draft it is: another person in the same tab does not see it
 */
export function useForm(owner: string, timeZone: string, version: TemplateVersion, address: StepAddress): Form {
  const [draft, setDraft] = useState(() => readDraft(owner, version));
  const [errors, setErrors] = useState<Errors>({});
  const [refusal, setRefusal] = useState<Problem | null>(null);
  const { steps } = address;
  const asked = address.named ?? draft.step;
  const step = steps.includes(asked) ? asked : "people";
  const setFocus = useFocus(step);
  const request = useMemo(
    () => requestOf(draft, version, { decimal: draft.decimal, timeZone }),
    [draft, version, timeZone],
  );
  const touched = useMemo(() => isTouched(draft, version), [draft, version]);
  const [gone, setGone] = useState(false);
  useEffect(() => {
    if (!gone) keepDraft(owner, version.template, draft);
  }, [owner, version.template, draft, gone]);

  const change = useCallback((patch: Partial<Draft>, ...at: string[]) => {
    setDraft((before) => ({ ...before, ...patch }));
    const concerned = (pointer: string) => at.some((one) => pointer === one || pointer.startsWith(`${one}/`));
    setErrors((before) => Object.fromEntries(Object.entries(before).filter(([pointer]) => !concerned(pointer))));
    if (at.length > 0) setRefusal(null);
  }, []);

  const open = (next: Step, focus: Focus, replace = false): void => {
    setDraft((before) => ({ ...before, step: next }));
    if (next !== address.named) address.name(next, replace);
    setFocus(next, focus);
  };

  /** Shows what is wrong and opens the first step with an error. */
  const show = (found: Errors, replace = false): void => {
    setErrors(found);
    const first = Object.keys(found).toSorted(
      (a, b) => steps.indexOf(stepOf(a, steps)) - steps.indexOf(stepOf(b, steps)),
    )[0];
    if (first !== undefined) open(stepOf(first, steps), "error", replace);
  };

  /** What is wrong in the steps before this one; anywhere before the review. */
  const wrongBefore = (next: Step): Errors => {
    const found = [...findingsOf(request, version, Date.now()), ...metadataFindings(draft)];
    const before = steps.slice(0, steps.indexOf(next));
    return placed(
      explainAll(found.filter(({ pointer }) => before.includes(stepOf(pointer, steps)) || next === "review")),
      version,
    );
  };

  // The address may name no step, or, typed or kept from another visit, one that the draft is not ready for.
  const opened = useRef(false);
  useEffect(() => {
    if (opened.current) return;
    opened.current = true;
    const wrong = wrongBefore(step);
    if (Object.keys(wrong).length === 0) {
      if (address.named !== step) address.name(step, true);
    } else if (touched) show(wrong, true);
    else open("people", "step", true);
  });

  return {
    version,
    timeZone,
    draft,
    steps,
    step,
    request,
    touched: touched && !gone,
    change,
    errors,
    input: (pointer) => ({ "data-pointer": pointer, error: errors[pointer] }),
    refusal,
    refuse(error) {
      const found = placed(fieldErrors(error), version);
      if (Object.keys(found).length > 0) show(found);
      if (!(error instanceof ProblemResponse)) return;
      const { problem } = error;
      if (problem.code !== "plan-upgrade-required" && problem.code !== "feature-disabled") return;
      setRefusal(problem);
      open("people", "refusal");
    },
    go(next) {
      const wrong = wrongBefore(next);
      if (Object.keys(wrong).length > 0) return show(wrong);
      setErrors({});
      open(next, "step");
    },
    startOver() {
      setErrors({});
      setRefusal(null);
      setDraft(emptyDraft(version));
      open("people", "step");
    },
    forget() {
      setGone(true);
      forgetDraft(owner, version.template);
    },
  };
}

/** A list variable shows what is wrong with the list as a whole; its cells have inputs of their own. */
function placed(errors: Errors, version: TemplateVersion): Errors {
  const known = (pointer: string) => {
    const [, first, name = ""] = pointer.split("/");
    return first !== "variables" || version.variables.some((variable) => variable.name === decodeURIComponent(name));
  };
  return Object.fromEntries(Object.entries(errors).filter(([pointer]) => known(pointer)));
}

type Focus = "error" | "step" | "refusal";

/**
 * Moves the focus once the step is there: to what is wrong, or to the head of the step, where the browser's own Back and Forward
 * lead as well.
 */
function useFocus(step: Step): (to: Step, focus: Focus) => void {
  const [wanted, setWanted] = useState<{ step: Step; focus: Focus } | null>(null);
  const last = useRef(step);
  useEffect(() => {
    const moved = last.current !== step;
    if (wanted ? wanted.step !== step : !moved) return;
    last.current = step;
    setWanted(null);
    const focus = wanted?.focus ?? "step";
    const target =
      focus === "error"
        ? document.querySelector<HTMLElement>('[data-pointer][aria-invalid="true"], [data-pointer][data-wrong]')
        : document.querySelector<HTMLElement>(focus === "refusal" ? ".send-refusal" : ".send-step h2");
    target?.focus();
    target?.scrollIntoView({ block: focus === "error" ? "center" : "nearest" });
  }, [wanted, step]);
  return (to, focus) => setWanted({ step: to, focus });
}

function metadataFindings({ metadata }: Draft): Finding[] {
  const keys = metadata.map(({ key }) => key.trim());
  return metadata.flatMap(({ id, value }, index): Finding[] => {
    const key = keys[index] ?? "";
    const pointer = `#/metadata/~${id}`;
    if (key === "") return value === "" ? [] : [{ pointer, code: "required", detail: null }];
    if (keys.indexOf(key) < index) return [{ pointer, code: "duplicate", detail: null }];
    return /^[A-Za-z0-9_.-]{1,40}$/.test(key) ? [] : [{ pointer, code: "pattern", detail: null }];
  });
}

function explainAll(findings: readonly Finding[]): Errors {
  const errors: Record<string, string> = {};
  for (const finding of findings) errors[finding.pointer] ??= explain(finding);
  return errors;
}
