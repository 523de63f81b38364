import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import {
  createTemplate,
  defaultSettings,
  deleteTemplate,
  getTemplate,
  getTemplateVersion,
  listTemplates,
  type OverlayItem,
  proposeFields,
  Role,
  saveTemplateDraft,
  type TemplateFile,
  uploadTemplateFile,
  type Variable,
} from "../../../../../server/features/templates/contract.ts";
import { callEndpoint, ProblemResponse } from "../../../../shared/api/client.ts";
import { uploadTo } from "../../../../shared/api/upload.ts";
import { type Draft, savedBody } from "./model.ts";
import { takeProposals } from "./proposals.ts";

/** What the first draft holds; the roles follow the words of the page. */
export type FirstDraft = {
  roles: readonly string[];
  items?: readonly OverlayItem[];
  variables?: readonly Variable[];
  /** false: for one envelope. */
  listed?: boolean;
  /** Puts a field wherever the document asks for something, for the roles that it names. */
  propose?: boolean;
};

export type Step = "create" | "upload" | "draft";

const isUnderWay = ({ problem }: ProblemResponse): boolean => problem.code === "idempotency-in-progress";

/** Not for a lost session, a time-out, a limit or a first request that goes on: the same one may pass a moment later. */
function isFinal(reason: unknown): boolean {
  if (!(reason instanceof ProblemResponse) || isUnderWay(reason)) return false;
  const { status } = reason.problem;
  return status >= 400 && status < 500 && ![401, 408, 429].includes(status);
}

/** How often the outcome of a first request is asked for, whose answer was lost while the service worked on it: for 35 seconds. */
const mostAsked = 10;
const longestPauseSeconds = 5;

/**
 * Repeats what its key makes harmless until the first request has its outcome. Each repeat sends the whole body, hence the pauses.
 * @param ask is told how often it was asked, from 1
 */
async function onceDone<T>(ask: (asked: number) => Promise<T>): Promise<T> {
  for (let asked = 1; ; asked += 1) {
    try {
      return await ask(asked);
    } catch (reason) {
      if (!(reason instanceof ProblemResponse && isUnderWay(reason)) || asked === mostAsked) throw reason;
      const seconds = Math.max(reason.problem.retryAfter ?? 1, Math.min(asked, longestPauseSeconds));
      await new Promise((resolve) => setTimeout(resolve, 1000 * seconds));
    }
  }
}

const newKeys = () => ({ create: crypto.randomUUID(), upload: crypto.randomUUID() });

/**
 * Makes a template of a PDF in three steps. A repeat after a lost connection goes on where it stopped, under the same idempotency
 * keys, so nothing is made twice. Where the service refuses, or the person gives up, no template without a document is left.
 */
export function useNewTemplate() {
  const queries = useQueryClient();
  const [step, setStep] = useState<Step | null>(null);
  const [progress, setProgress] = useState<number | null>(null);
  const keys = useRef(newKeys());
  const done = useRef<{ template: string | null; file: { from: File; made: TemplateFile } | null }>({
    template: null,
    file: null,
  });
  // A key stands for one body: another name or another file is another request.
  const named = useRef<string | null>(null);
  const sent = useRef<File | null>(null);

  /** @returns the id of the template */
  async function make(name: string, file: File, first: FirstDraft): Promise<string> {
    try {
      setStep("create");
      const id = done.current.template ?? (await create(name, first.listed ?? true));
      done.current.template = id;
      setStep("upload");
      const uploaded = done.current.file?.from === file ? done.current.file.made : await upload(id, file);
      done.current.file = { from: file, made: uploaded };
      setStep("draft");
      const begun: Draft = {
        name,
        file: uploaded.id,
        items: first.items ?? [],
        roles: first.roles.map((role, index) => Role.parse({ name: role, order: index + 1 })),
        variables: first.variables ?? [],
        settings: defaultSettings,
      };
      // A document in which nothing is found is sent all the same.
      const found = first.propose
        ? await callEndpoint(proposeFields, { params: { id, file: uploaded.id } }).catch(() => null)
        : null;
      const body = savedBody(found ? takeProposals(begun, found) : begun);
      const draft = await callEndpoint(saveTemplateDraft, { params: { id }, body });
      queries.setQueryData([getTemplateVersion.id, { params: { id, version: "draft" } }], draft);
      await queries.invalidateQueries({ queryKey: [listTemplates.id] });
      await queries.invalidateQueries({ queryKey: [getTemplate.id] });
      return id;
    } catch (reason) {
      if (isFinal(reason)) await discard();
      throw reason;
    } finally {
      setStep(null);
      setProgress(null);
    }
  }

  /** Takes back what was made so far. What cannot be deleted now stays in the list, where it can be. */
  async function discard(): Promise<void> {
    const { template: id } = done.current;
    done.current = { template: null, file: null };
    keys.current = newKeys();
    if (id === null) return;
    await callEndpoint(deleteTemplate, { params: { id } }).catch(() => undefined);
    await queries.invalidateQueries({ queryKey: [listTemplates.id] });
  }

  async function create(name: string, listed: boolean): Promise<string> {
    if (named.current !== name) keys.current.create = crypto.randomUUID();
    named.current = name;
    const idempotencyKey = keys.current.create;
    return (await onceDone(() => callEndpoint(createTemplate, { body: { name, listed }, idempotencyKey }))).id;
  }

  async function upload(id: string, file: File): Promise<TemplateFile> {
    if (sent.current !== file) keys.current.upload = crypto.randomUUID();
    sent.current = file;
    const input = { params: { id }, body: file, idempotencyKey: keys.current.upload };
    setProgress(0);
    // A repeat shows what is true, the document being looked at, and not an upload that begins again.
    return await onceDone((asked) =>
      uploadTo(uploadTemplateFile, input, asked === 1 ? setProgress : () => setProgress(1)),
    );
  }

  return { make, discard, step, progress };
}
