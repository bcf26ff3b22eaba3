"use client";
import { useEffect, useState } from "react";
import { rouge1 } from "adk-metrics";

export function Score() {
  const [score, setScore] = useState("");
  useEffect(() => setScore(String(rouge1("The weather is sunny", "It is sunny").fmeasure)), []);
  return <output id="client">{score}</output>;
}
