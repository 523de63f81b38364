import { listTemplates } from "../../../../../server/features/templates/contract.ts";
import { useEndpoint } from "../../../../shared/api/queries.ts";
import { useCan } from "../../session.tsx";

export type TemplateNames = { names: ReadonlyMap<string, string>; error: unknown };

/** Names of the organization's templates by their id. */
export function useTemplateNames(): TemplateNames {
  const enabled = useCan("template:read");
  const { data, error } = useEndpoint(listTemplates, { query: { limit: "100" } }, { enabled });
  return { names: new Map(data?.data.map(({ id, name }) => [id, name])), error };
}
