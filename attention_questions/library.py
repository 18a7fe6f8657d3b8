"""Full names of what libraries have ready, for questions that ask to write it oneself (`forbidden`)."""

SOFTMAXES = ("torch.softmax", "torch.log_softmax", "torch.softmin", "torch.special_softmax", "torch.nn.Softmax",
             "torch.nn.LogSoftmax", "torch.nn.Softmin", "scipy.special.softmax")
ATTENTIONS = ("coursekit.models.scaled_dot_product_attention", "coursekit.models.single_query_attention",
              "coursekit.models.MultiHeadAttention", "torch.nn.functional.scaled_dot_product_attention",
              "torch.nn.functional.multi_head_attention_forward", "torch.nn.MultiheadAttention")
