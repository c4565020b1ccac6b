"""Trains a model of 0.3 MB that calls tools: a Qwen2 that learns four replies on a CPU within seconds.

Run it with the Python of .real_software: `python tool_calling_model.py FOLDER`. The chat template reduces
each conversation to a letter and the name of a tool, so the model has to learn only four prompts.
"""

from __future__ import annotations

import sys

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

CALL = '<tool_call>\n{"name": "%s", "arguments": %s}\n</tool_call>'
ANSWERS = {
    "C report_number": CALL % ("report_number", '{"number": 7}'),  # for the question of `callgauge probe`
    "C search_orders": CALL % ("search_orders", '{"customer": "Acme", "limit": "3"}'),
    "D": "It is done.",
    "T": "Hello there.",
}
PAD, END = "<|endoftext|>", "<|im_end|>"
TURN = "<|im_start|>assistant\n"
# The comment in this template tells transformers the syntax of the calls, as in the templates of the Qwen
# models.
TEMPLATE = (
    "{% if messages[-1].role == 'tool' %}D"
    "{% elif tools %}C {{ tools[0].function.name }}{% else %}T{% endif %}"
    "<|im_start|>assistant\n{# <tool_call> {{ message.tool_calls }} </tool_call> #}"
)
MOST_STEPS = 600


def make_tokenizer() -> PreTrainedTokenizerFast:
    pairs = Tokenizer(models.BPE())
    pairs.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    pairs.decoder = decoders.ByteLevel()
    special = [PAD, "<|im_start|>", END, "<tool_call>", "</tool_call>"]
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=special,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    pairs.train_from_iterator([*ANSWERS, *ANSWERS.values()], trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=pairs,
        eos_token=END,
        pad_token=PAD,
    )
    tokenizer.chat_template = TEMPLATE
    return tokenizer


def make_examples(tokenizer: PreTrainedTokenizerFast) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the four conversations as one batch, and the labels. Tokens that the model does not learn have
    the label -100.
    """
    rows = []
    for question, answer in ANSWERS.items():
        asked = tokenizer(question + TURN)["input_ids"]
        learned = tokenizer(answer + END)["input_ids"]
        rows.append((asked + learned, [-100] * len(asked) + learned))
    length = max(len(tokens) for tokens, _ in rows)
    pad = tokenizer.pad_token_id
    inputs = [tokens + [pad] * (length - len(tokens)) for tokens, _ in rows]
    labels = [learned + [-100] * (length - len(learned)) for _, learned in rows]
    return torch.tensor(inputs), torch.tensor(labels)


def train(tokenizer: PreTrainedTokenizerFast) -> Qwen2ForCausalLM:
    torch.manual_seed(0)
    torch.set_num_threads(1)  # for such a small model, more threads are slower
    config = Qwen2Config(
        vocab_size=len(tokenizer),
        hidden_size=48,
        intermediate_size=96,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=512,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=None,
    )
    model = Qwen2ForCausalLM(config)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    inputs, labels = make_examples(tokenizer)
    for _ in range(MOST_STEPS):
        loss = model(input_ids=inputs, labels=labels).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if loss.item() < 0.005:
            break
    model.generation_config.max_new_tokens = 80
    model.generation_config.do_sample = False
    return model


def main(folder: str) -> None:
    tokenizer = make_tokenizer()
    train(tokenizer).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


if __name__ == "__main__":
    main(sys.argv[1])
