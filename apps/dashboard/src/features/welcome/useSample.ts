import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { getTemplate, listTemplates, publishTemplate } from "../../../../../server/features/templates/contract.ts";
import { callEndpoint } from "../../../../shared/api/client.ts";
import { useMode } from "../../mode.tsx";
import type { Sample } from "../../sample/sample.ts";
import { useNewTemplate } from "../templates/useNewTemplate.ts";

/** Makes the sample a published template and goes on to sending it, in test mode. A repeat goes on where it stopped. */
export function useSample() {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const { setTestMode } = useMode();
  const { make } = useNewTemplate();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const loaded = useRef<Sample | null>(null);
  const key = useRef(crypto.randomUUID());

  async function start(): Promise<void> {
    setBusy(true);
    setError(null);
    try {
      const template = (await existing()) ?? (await created());
      setTestMode(true);
      await queries.invalidateQueries({ queryKey: [listTemplates.id] });
      await queries.invalidateQueries({ queryKey: [getTemplate.id] });
      await navigate({ to: "/send", search: { template } });
    } catch (reason) {
      setError(reason);
      setBusy(false);
    }
  }

  async function sample(): Promise<Sample> {
    const { loadSample } = await import("../../sample/sample.ts");
    loaded.current ??= await loadSample();
    return loaded.current;
  }

  /** The sample may have been made before: one is enough. */
  async function existing(): Promise<string | null> {
    const { name } = await sample();
    const { data } = await callEndpoint(listTemplates, { query: { q: name } });
    return data.find((template) => template.name === name && template.latestVersion !== null)?.id ?? null;
  }

  async function created(): Promise<string> {
    const { name, file, roles, items, variables } = await sample();
    const id = await make(name, file, { roles, items, variables });
    await callEndpoint(publishTemplate, { params: { id }, idempotencyKey: key.current });
    return id;
  }

  return { start, busy, error };
}
