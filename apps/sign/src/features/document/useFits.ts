import { useEffect, useMemo, useState } from "react";
import { fitSigningTexts, type SigningView } from "../../../../../server/features/signing/contract.ts";
import { surelyFits } from "../../../../../server/features/templates/text-fit.ts";
import { callEndpoint } from "../../../../shared/api/client.ts";
import type { Answers, Fit, Mine } from "./fields.ts";
import { drawnText } from "./fields.ts";

const pauseMs = 250;

/** How the texts go into their fields in the document, by field id, as the service measures it shortly after each change. */
export function useFits(
  view: SigningView,
  token: string,
  fields: readonly Mine[],
  answers: Answers,
): ReadonlyMap<string, Fit> {
  const [fits, setFits] = useState<ReadonlyMap<string, Fit>>(new Map());
  // Of the texts alone, so that a change of anything else asks for nothing.
  const wanted = useMemo(() => JSON.stringify(textsToMeasure(view, fields, answers)), [view, fields, answers]);
  const texts = useMemo((): Record<string, string> => JSON.parse(wanted), [wanted]);
  useEffect(() => {
    if (Object.keys(texts).length === 0) return;
    const leave = new AbortController();
    const timer = window.setTimeout(async () => {
      try {
        const told = await callEndpoint(fitSigningTexts, { token, body: { fields: texts }, signal: leave.signal });
        setFits(new Map(Object.entries(told.fields).map(([id, fit]) => [id, { ...fit, text: texts[id] ?? "" }])));
      } catch {
        // The page only shows less: a submission is measured in any case, and what is wrong with the session is told by others.
        if (!leave.signal.aborted)
          setFits((before) => new Map([...before].filter(([id, fit]) => fit.text === texts[id])));
      }
    }, pauseMs);
    return () => {
      window.clearTimeout(timer);
      leave.abort();
    };
  }, [texts, token]);
  // What need not be measured any more has no fit; what was changed keeps its last one until the next arrives.
  return useMemo(() => new Map([...fits].filter(([id]) => Object.hasOwn(texts, id))), [fits, texts]);
}

function textsToMeasure(view: SigningView, fields: readonly Mine[], answers: Answers): Record<string, string> {
  return Object.fromEntries(
    fields.flatMap((field) => {
      const [box] = field.boxes;
      const text = drawnText(field, view, answers);
      return box === undefined || text === null || surelyFits(text, { ...field, ...box }) ? [] : [[field.id, text]];
    }),
  );
}
