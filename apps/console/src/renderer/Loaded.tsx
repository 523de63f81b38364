import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import { translator } from "../../../shared/i18n.ts";
import { Loading } from "../../../shared/ui/kit/Loading.tsx";
import { Failure } from "./Failure.tsx";

const t = translator("common");

/** What of a query is needed to show it; pages of a list too. */
type Query<T> = {
  data: T | undefined;
  isError: boolean;
  error: Error | null;
  isFetching: boolean;
  refetch: () => Promise<unknown>;
};
type Props<T> = { query: Query<T>; rows?: number; children: (data: T) => ReactNode };

/** What a query gave; grey rows until then, and the cause with a way on when it failed. What was there before stays. */
export function Loaded<T>({ query, rows, children }: Props<T>) {
  return (
    <>
      {query.isError && (
        <div className="load-failure">
          <Failure error={query.error} />
          <Button variant="default" loading={query.isFetching} onClick={() => void query.refetch()}>
            {t("retry")}
          </Button>
        </div>
      )}
      {query.data === undefined ? !query.isError && <Loading {...(rows ? { rows } : {})} /> : children(query.data)}
    </>
  );
}
