import { type Dispatch, type SetStateAction, useCallback, useEffect, useMemo, useState } from "react";
import type { TemplateVersion } from "../../../../../server/features/templates/contract.ts";
import type { Problem } from "../../../../../server/kernel/problem.ts";
import { ProblemResponse } from "../../../../shared/api/client.ts";
import { fieldErrors } from "../../../../shared/ui/kit/fieldErrors.ts";
import { type Finding, findingsOf, type Request } from "./check.ts";
import { type Draft, emptyDraft, forgetDraft, isTouched, keepDraft, readDraft, type Step, steps } from "./draft.ts";
import { explain } from "./explain.ts";
import { requestOf, stepOf } from "./request.ts";

type Errors = Readonly<Record<string, string>>;

/** What the steps share: the draft, what is wrong with it, and how an input takes part. */
export type Form = {
  version: TemplateVersion;
  timeZone: string;
  draft: Draft;
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

/**
 * Keeps the draft of one template in this tab.
 * @param owner whose draft it is: another person in the same tab does not see it
 */
export function useForm(owner: string, timeZone: string, version: TemplateVersion): Form {
  const [draft, setDraft] = useState(() => readDraft(owner, version));
  const [errors, setErrors] = useState<Errors>({});
  const [refusal, setRefusal] = useState<Problem | null>(null);
  const setFocus = useFocus();
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

  /** Shows what is wrong and opens the first step with an error. */
  const show = (found: Errors): void => {
    setErrors(found);
    const first = Object.keys(found).toSorted((a, b) => steps.indexOf(stepOf(a)) - steps.indexOf(stepOf(b)))[0];
    if (first === undefined) return;
    setDraft((before) => ({ ...before, step: stepOf(first) }));
    setFocus("error");
  };

  return {
    version,
    timeZone,
    draft,
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
      setDraft((before) => ({ ...before, step: "people" }));
      setFocus("refusal");
    },
    go(step) {
      const found = findingsOf(request, version, Date.now());
      found.push(...metadataFindings(draft));
      const before = steps.slice(0, steps.indexOf(step));
      const shown = found.filter(({ pointer }) => before.includes(stepOf(pointer)) || step === "review");
      if (shown.length > 0) return show(placed(explainAll(shown), version));
      setErrors({});
      setDraft((old) => ({ ...old, step }));
      setFocus("step");
    },
    startOver() {
      setErrors({});
      setRefusal(null);
      setDraft(emptyDraft(version));
      setFocus("step");
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

/** Moves the focus after the step that was opened is there: to what is wrong, or to the head of the step. */
function useFocus(): Dispatch<SetStateAction<Focus | null>> {
  const [wanted, setWanted] = useState<Focus | null>(null);
  useEffect(() => {
    if (wanted === null) return;
    setWanted(null);
    const target =
      wanted === "error"
        ? document.querySelector<HTMLElement>('[data-pointer][aria-invalid="true"], [data-pointer][data-wrong]')
        : document.querySelector<HTMLElement>(wanted === "refusal" ? ".send-refusal" : ".send-step h2");
    target?.focus();
    target?.scrollIntoView({ block: wanted === "error" ? "center" : "nearest" });
  }, [wanted]);
  return setWanted;
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
