import { type ChangeEvent, type FormEvent, useState } from "react";
import { fieldErrors } from "../../../../shared/ui/kit/fieldErrors.ts";
import { useRefusals } from "../../../../shared/ui/kit/useRefusals.ts";

type Errors<V> = Partial<Record<keyof V, string>>;
type Options<V> = {
  /** What is wrong with the values before anything is sent. */
  check: (values: V) => Errors<V>;
  submit: (values: V) => Promise<void>;
};

type Fields = ReturnType<typeof useFields>;
/** What a form needs of it as a whole. */
export type FormState = Pick<Fields, "form" | "failure" | "pending" | "onSubmit">;
/** What one input needs of it. */
export type Bound = ReturnType<Fields["bind"]>;

/** The state of a small form of text fields: errors stand in place, the first one gets the focus, and nothing typed is lost. */
export function useFields<V extends Record<string, string>>(initial: V, { check, submit }: Options<V>) {
  const { form, refuse: moveFocus } = useRefusals();
  const [values, setValues] = useState(initial);
  const [errors, setErrors] = useState<Errors<V>>({});
  const [failure, setFailure] = useState<unknown>(null);
  const [pending, setPending] = useState(false);

  const refuse = (found: Errors<V>) => {
    setErrors(found);
    moveFocus();
  };

  const run = async (action: (values: V) => Promise<void>, only?: keyof V) => {
    if (pending) return;
    setFailure(null);
    const found = check(values);
    const wrong = only === undefined ? found : { ...(found[only] ? { [only]: found[only] } : {}) };
    if (Object.keys(wrong).length > 0) return refuse(wrong as Errors<V>);
    setErrors({});
    setPending(true);
    try {
      await action(values);
    } catch (error) {
      const told = Object.entries(fieldErrors(error)).map(([pointer, detail]) => [pointer.slice(2), detail] as const);
      const here = told.filter(([name]) => Object.hasOwn(initial, name));
      if (here.length > 0) refuse(Object.fromEntries(here) as Errors<V>);
      if (here.length < Math.max(told.length, 1)) setFailure(error);
    } finally {
      setPending(false);
    }
  };

  return {
    form,
    values,
    failure,
    pending,
    set: (name: keyof V, value: string) => setValues((now) => ({ ...now, [name]: value })),
    /** Name, value and error of one field, for a Mantine input. */
    bind: (name: keyof V & string) => ({
      name,
      value: values[name] ?? "",
      error: errors[name] ?? null,
      onChange: (event: ChangeEvent<HTMLInputElement>) => {
        const { value } = event.currentTarget;
        setValues((now) => ({ ...now, [name]: value }));
        setErrors((now) => ({ ...now, [name]: undefined }));
      },
    }),
    onSubmit: (event: FormEvent) => {
      event.preventDefault();
      void run(submit);
    },
    /** Does something else with one field: only that one must be right. */
    also: (name: keyof V, action: (values: V) => Promise<void>) => void run(action, name),
  };
}
