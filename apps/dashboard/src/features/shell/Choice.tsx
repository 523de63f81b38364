import { useId } from "react";

type Option = { value: string; label: string; lang?: string };
type Props = {
  legend: string;
  name: string;
  value: string;
  options: readonly Option[];
  onChoose: (value: string) => void;
};

/** One of a few, side by side. */
export function Choice({ legend, name, value, options, onChoose }: Props) {
  // The same choice may stand in the side and in the drawer.
  const group = `${name}-${useId()}`;
  return (
    <fieldset className="choice">
      <legend>{legend}</legend>
      <div className="choice-options">
        {options.map((option) => (
          <label key={option.value} {...(option.lang ? { lang: option.lang } : {})}>
            <input
              type="radio"
              name={group}
              value={option.value}
              checked={option.value === value}
              onChange={() => onChoose(option.value)}
            />
            <span>{option.label}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
