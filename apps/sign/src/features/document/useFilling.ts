import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { Attachment, SignatureInput, SigningView } from "../../../../../server/features/signing/contract.ts";
import type { FieldInput } from "../../../../../server/features/templates/contract.ts";
import { ownMember } from "../../../../../server/kernel/record.ts";
import {
  type Answers,
  fieldsByPage,
  initialAnswers,
  isAutomatic,
  isList,
  type Mine,
  nextOpen,
  shownFields,
} from "./fields.ts";
import { computedTexts } from "./formulas.ts";
import { noProblems, type Problems, problemsOf } from "./problems.ts";
import type { Filling, SignatureKind } from "./store.ts";
import { useFits } from "./useFits.ts";
import { useUploads } from "./useUploads.ts";

export type OpenDialog = { kind: SignatureKind; field: Mine };

/** Holds what the signer fills in, and moves between the fields. */
export function useFillingState(view: SigningView, token: string) {
  const [answers, setAnswers] = useState<Answers>(() => initialAnswers(view));
  const [problems, setProblems] = useState<Problems>(noProblems);
  const [current, setCurrent] = useState<string | null>(null);
  /** Fields that the signer has been in: only there a mistake is pointed out. */
  const [seen, setSeen] = useState<ReadonlySet<string>>(new Set());
  const [dialog, setDialog] = useState<OpenDialog | null>(null);
  const [touched, setTouched] = useState(false);
  const fields = useMemo(() => shownFields(view, answers), [view, answers]);
  const onPage = useMemo(() => fieldsByPage(fields), [fields]);
  const computed = useMemo(() => computedTexts(view, answers), [view, answers]);
  const fits = useFits(view, token, fields, answers);
  useLeaveWarning(touched);

  const set = useCallback((id: string, value: FieldInput | readonly string[]) => {
    setTouched(true);
    setAnswers((before) => ({ ...before, values: { ...before.values, [id]: value } }));
    setProblems((before) => {
      const { [id]: _, ...fields } = before.fields;
      return { ...before, fields };
    });
  }, []);
  const addUpload = useCallback(({ id, field }: Attachment) => {
    setTouched(true);
    setAnswers((before) => {
      const value = ownMember(before.values, field);
      return { ...before, values: { ...before.values, [field]: [...(isList(value) ? value : []), id] } };
    });
  }, []);
  const uploads = useUploads(view, token, addUpload);

  const goTo = useCallback((id: string | null) => {
    const before = latest.current.current;
    if (before !== null && before !== id) setSeen((seen) => new Set(seen).add(before));
    setCurrent(id);
  }, []);
  const latest = useRef({ fields, answers, fits, current });
  latest.current = { fields, answers, fits, current };
  /** Where the focus goes once the page shows the field. */
  const [wanted, setWanted] = useState<{ id: string } | null>(null);
  const visit = useCallback(
    (id: string) => {
      goTo(id);
      setWanted({ id });
    },
    [goTo],
  );
  useEffect(() => {
    if (wanted) focusField(wanted.id);
  }, [wanted]);
  const advance = useCallback(() => {
    const { fields, answers, fits, current } = latest.current;
    const next = nextOpen(fields, answers, current, fits);
    if (next) visit(next.id);
    else {
      goTo(null);
      document.querySelector<HTMLElement>(".guide [data-finish]")?.focus();
    }
  }, [visit, goTo]);

  const place = (field: Mine, kind: SignatureKind, signature: SignatureInput) => {
    setTouched(true);
    const after: Answers = { ...answers, [kind]: signature, placed: new Set(answers.placed).add(field.id) };
    setAnswers(after);
    setProblems((before) => ({ ...before, [kind]: null }));
    setDialog(null);
    const next = nextOpen(fields, after, field.id, fits);
    if (next && next.id !== field.id) visit(next.id);
  };
  const sign = (field: Mine) => {
    if (isAutomatic(field)) return;
    const kind: SignatureKind = field.type === "initials" ? "initials" : "signature";
    const known = answers[kind];
    goTo(field.id);
    if (known && !answers.placed.has(field.id) && !problems[kind]) place(field, kind, known);
    else setDialog({ kind, field });
  };
  /** Shows what the service refused at the fields; false when no field is to blame. */
  const refuse = (error: unknown): boolean => {
    const found = problemsOf(error);
    const first = fields.find(
      (field) =>
        Object.hasOwn(found.fields, field.id) ||
        (field.type === "signature" && found.signature !== null) ||
        (field.type === "initials" && found.initials !== null),
    );
    if (!first) return false;
    setProblems(found);
    visit(first.id);
    return true;
  };
  const told = useRef<unknown>(null);
  /** Leads back, once, to a file that did not arrive: somebody who went on meanwhile has not seen that. */
  const showLost = (): boolean => {
    const lost = fields.find(
      ({ id }) => id !== current && uploads.failures.has(id) && told.current !== uploads.failures.get(id),
    );
    if (!lost) return false;
    told.current = uploads.failures.get(lost.id);
    visit(lost.id);
    return true;
  };
  const filling: Filling = {
    view,
    answers,
    fields,
    onPage,
    problems,
    current,
    uploads,
    computed,
    fits,
    set,
    seen,
    goTo,
    advance,
    sign,
  };
  return {
    filling,
    dialog,
    closeDialog: () => setDialog(null),
    place,
    refuse,
    showLost,
    settle: () => setTouched(false),
  };
}

function focusField(id: string): void {
  const control = document.querySelector<HTMLElement>(`.field [data-field="${CSS.escape(id)}"]`);
  if (!control) return;
  const calm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  control.scrollIntoView({ block: "center", inline: "center", behavior: calm ? "auto" : "smooth" });
  // A field that is filled in at the foot of the window has its focus there.
  const docked = document.querySelector(`.dock [data-field="${CSS.escape(id)}"], .dock .uploads`);
  if (!docked) control.focus({ preventScroll: true });
}

function useLeaveWarning(active: boolean): void {
  useEffect(() => {
    if (!active) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener("beforeunload", warn);
    return () => window.removeEventListener("beforeunload", warn);
  }, [active]);
}
